Feature: The correct command
  It says what a correction would do and asks; what cannot be is refused and changes nothing.

  Background:
    Given a plan with a decision between a file and a database

  Rule: it says what it will do, and asks

    Scenario: A rehearsal changes nothing
      Given another decision follows about the colour
      And the plan has run
      When the user rehearses correcting the decision to choose database
      Then nothing has changed
      And the correction says
        | field                                 | value |
        | dry_run                               | True  |
        | affected_subtree.decisions_invalidated | 1    |
        | affected_subtree.unaffected_decisions | 2     |
        | sandbox_rollback.files_reverted       | 2     |
        | sandbox_rollback.status               | would be restored |
        | phase_transition_target               | strategize |

    Scenario: A rehearsal of appending changes nothing
      Given the plan has run
      When the user rehearses appending to the decision
      Then nothing has changed
      And the messages are Dry run: nothing was changed

    Scenario Outline: Answering "<answer>" to a <mode>
      Given the user sits before a terminal
      And the plan has run
      When the user answers "<answer>" when asked about a <mode> of the decision
      Then the exit code is <code>
      And the error output says "<sentence>"

      Examples:
        | answer | mode   | code | sentence                                                     |
        | y      | revert | 0    | Correcting `Where do greetings live?` would roll back to     |
        | n      | revert | 1    | The current state is saved as a checkpoint first.            |
        | y      | append | 0    | This would only create a child plan with the guidance       |
        | n      | append | 1    | Append?                                                      |

    Scenario: A child plan that would go with it is shown
      Given the plan has run
      And "write it down" has been appended to the decision
      And the user sits before a terminal
      When the user answers "n" when asked about a revert of the decision
      Then the exit code is 1
      And the error output says "undo 3 tool calls, roll back 1 child plan and supersede 2 decisions."

    Scenario: Effects that nothing can undo are shown
      Given a step of the option file sends something irreversible
      And the plan has run
      When the user corrects the decision to choose database because "it will grow"
      Then the exit code is 0
      And it warns that "A rollback cannot undo the effects of step 4 (`send`)"

  Rule: bad input is refused and changes nothing

    Scenario Outline: <what>
      Given the plan has run
      When the user corrects with <arguments>
      Then the exit code is <code>
      And nothing has changed

      Examples:
        | what                                | arguments                                              | code |
        | an option that is not there         | DECISION --mode revert -g x --choose moon              | 2    |
        | an unknown decision                 | 01HXM8C2 --mode revert -g x                            | 5    |
        | no guidance                         | DECISION --mode revert                                 | 2    |
        | empty guidance                      | DECISION --mode revert -g ''                           | 2    |
        | steps of a file while reverting     | DECISION --mode revert -g x --steps more.yaml --yes    | 2    |
        | no mode                             | DECISION -g x                                          | 2    |
        | no terminal and no --yes            | DECISION --mode revert -g x                            | 2    |
        | an option of the root               | ROOT --mode revert -g x --choose file --yes            | 2    |

    Scenario Outline: A decision that is no longer in effect cannot be <mode>
      Given the plan has run
      And the decision has been corrected to choose database
      When the user tries to <mode> the decision that fell
      Then the exit code is 4
      And nothing has changed

      Examples:
        | mode   |
        | revert |
        | append |

    Scenario: An intervention cannot be reverted itself
      Given the plan has run
      And the decision has been corrected to choose database
      When the user tries to revert the intervention
      Then the exit code is 2
      And nothing has changed

    Scenario: A plan that has not run has nothing to go back to
      Given the plan has been made
      When the user corrects the plan itself because "start over"
      Then the exit code is 4
      And nothing has changed

    Scenario: No checkpoint from before it is left
      Given the plan has run
      And only the checkpoint "after execution" is left
      When the user corrects the decision to choose database because "it will grow"
      Then the exit code is 4
      And the plan is execute/complete with 4 steps done

    Scenario Outline: Comparing with <text>
      Given the plan has run
      When the user runs "agents plan diff <text>"
      Then the exit code is <code>

      Examples:
        | text                         | code |
        | --correction 01HXM8C2        | 5    |
        | --correction @latest         | 5    |
        | @latest --correction 01HXM8  | 2    |
        |                              | 2    |

    Scenario: An influence that no decision has
      Given the plan names an influence that is not there
      When the user makes the plan
      Then it is refused with the code 2 and a sentence about no earlier decision
