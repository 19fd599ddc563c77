Feature: Correcting a decision
  A decision can be made again: the plan goes back to before it, what depends on it is superseded, everything
  else stays, and the next run takes the other course.

  Background:
    Given a plan with a decision between a file and a database

  Rule: a revert takes another course

    Scenario: The other branch's result is there, and the work before the decision is kept
      Given the plan has run
      And the decision has been corrected to choose database
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo by begin > a.txt; echo table > store.sql; echo index > index.sql; echo end > end.txt`
      And the steps that ran are 2, 3, 4, 5
      And the plan is execute/complete with 5 steps done
      And the project is untouched

    Scenario: The report, field by field
      Given the plan has run
      When the user corrects the decision to choose database because "it will grow"
      Then the exit code is 0
      And the correction says
        | field                                  | value              |
        | correction.mode                        | revert             |
        | correction.attempt                     | 2                  |
        | correction.impact                      | 1 decision superseded |
        | correction.choose                      | database           |
        | affected_subtree.decisions_invalidated | 1                  |
        | affected_subtree.child_plans_rolled_back | 0                |
        | affected_subtree.artifacts_archived    | ['store.py']       |
        | affected_subtree.unaffected_decisions  | 1                  |
        | sandbox_rollback.files_reverted        | 2                  |
        | sandbox_rollback.status                | restored           |
        | recompute.queued                       | True               |
        | phase_transition_target                | strategize         |
        | verified                               | True               |
      And the messages are Correction complete
      And the plan is strategize/queued with 1 steps done
      And the sandbox is the project after `echo by begin > a.txt`

    Scenario: The guidance is a decision of its own, and knows what was tried
      Given the plan has run
      When the user corrects the decision to choose database because "it will grow"
      Then the user's intervention says "it will grow" and that file with store.py was tried
      And the tree with what is superseded has 3 decisions

    Scenario: Every attempt is a row
      Given the plan has run
      And the decision has been corrected to choose database
      And the plan has been executed
      When the user corrects the decision to choose file because "it did not grow"
      Then the exit code is 0
      And the attempts are
        | mode   | choose   | attempt | state    |
        | revert | database | 2       | complete |
        | revert | file     | 3       | complete |

    Scenario: Without another option the plan only goes back
      Given the plan has run
      When the user corrects the decision because "think again"
      Then the exit code is 0
      And the option taken is file
      And the plan is strategize/queued with 1 steps done

    Scenario: The plan's first decision stands for all of it
      Given the plan has run
      When the user corrects the plan itself because "start over"
      Then the exit code is 0
      And the plan is strategize/queued with 0 steps done
      And the sandbox is as it was at "before execution"

    Scenario: A plan that failed after the decision
      Given its last step fails unless the database was chosen
      And the plan has failed
      And the decision has been corrected to choose database
      When the user executes the plan
      Then the plan is execute/complete with 5 steps done

    Scenario Outline: Whatever checkpoints are kept, with the triggers <triggers>
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "<triggers>"
      And the plan has run
      And the decision has been corrected to choose database
      When the user executes the plan
      Then the sandbox is the project after `echo by begin > a.txt; echo table > store.sql; echo index > index.sql; echo end > end.txt`
      And the plan is execute/complete with 5 steps done

      Examples:
        | triggers                            |
        | []                                  |
        | before_step                         |
        | after_step                          |
        | before_step,after_step,on_error     |

    Scenario: Edits made by hand just before the decision are upstream of it
      Given the plan has run
      And the plan has been rolled back to "after begin"
      And the user has changed the sandbox by `echo mine > mine.txt`
      And a checkpoint "with mine" has been made by hand
      And the plan has been executed
      When the user corrects the decision to choose database because "it will grow"
      Then the sandbox is the project after `echo by begin > a.txt; echo mine > mine.txt`

  Rule: only what depends on the decision is superseded

    Scenario: A later decision stays, and is not made twice
      Given another decision follows about the colour
      And the plan has run
      And the decision has been corrected to choose database
      When the user executes the plan
      Then the decisions that stand are What should be done?, Which colour?, Where do greetings live?, Where do greetings live?
      And the tree with what is superseded has 5 decisions

    Scenario: A later decision that rests on it falls with it
      Given another decision follows about the colour, influenced by the first
      And the plan has run
      When the user corrects the decision to choose database because "it will grow"
      Then the decisions that stand are What should be done?, Where do greetings live?
      And 2 decisions were undone

    Scenario: A decision within its option falls with it
      Given a decision about the format is within the option file
      And the plan has run
      When the user corrects the decision to choose database because "it will grow"
      Then the decisions that stand are What should be done?, Where do greetings live?
      And 2 decisions were undone

    Scenario: A later decision that was made again is corrected where it was made last
      Given another decision follows about the colour
      And then a step that fails with the database unless mine.txt is there
      And on failure the plan is to rollback-plan
      And the plan has run
      And the database has been chosen, which failed until a checkpoint with mine.txt was made
      When the user corrects the colour because "too loud"
      Then the sandbox is the project after `echo by begin > a.txt; echo mine > mine.txt; echo table > store.sql; echo index > index.sql; echo end > end.txt`
