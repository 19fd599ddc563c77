Feature: What a correction leaves behind
  What was there before a correction is kept for inspection, and an appended correction keeps
  everything and adds to it.

  Background:
    Given a plan with a decision between a file and a database

  Rule: what was there before can still be inspected

    Scenario: The difference to what the correction took away
      Given the plan has run
      And the decision has been corrected to choose database
      And the plan has been executed
      When the user compares the plan with what its correction took away
      Then the files that differ are
        | path      | status  | change |
        | index.sql | added   | +1 -0  |
        | store.py  | deleted | +0 -1  |
        | store.sql | added   | +1 -0  |

    Scenario: The state itself
      Given the plan has run
      When the user corrects the decision to choose database because "it will grow"
      Then the checkpoint "before correction of Where do greetings live?" holds the project after `echo by begin > a.txt; echo file > store.py; echo end > end.txt`

    Scenario: It outlives the limit of checkpoints
      Given the plan has run
      And a plan may keep 3 checkpoints
      And the decision has been corrected to choose database
      And the plan has been executed
      And the user has changed the sandbox by `echo 1 > 1`
      And a checkpoint "later" has been made by hand
      When the user compares the plan with what its correction took away
      Then the exit code is 0

    Scenario: The comparison after what was there was deleted
      Given the plan has run
      And the decision has been corrected to choose database
      And the records of "before correction of Where do greetings live?" are gone
      When the user compares the plan with what its correction took away
      Then the exit code is 4

  Rule: append keeps everything and makes a child plan

    Scenario: A child plan with the guidance as its prompt
      Given the plan has run
      When the user appends "write it down" to the decision
      Then the exit code is 0
      And the sandbox is as it was at "after execution"
      And the plan is execute/complete with 4 steps done
      And there is a child plan strategize/queued whose prompt is "write it down"
      And the status counts 0/1 child plans complete
      And the decision that spawned it depends on the corrected one

    Scenario: It has no steps to run yet
      Given the plan has run
      And "write it down" has been appended to the decision
      When the user executes the child plan
      Then it is refused with the code 4 and the sentence A plan in strategize/queued cannot be executed: it has no steps yet

    Scenario: A rollback past it cancels the child, and undoing that brings it back
      Given the plan has run
      And "write it down" has been appended to the decision
      When the user rolls the plan back to "before execution"
      Then 1 child plan was invalidated
      And the child plan is strategize/cancelled, and after an undo strategize/queued

    Scenario: Undoing what came before the child cancels it too
      Given the plan has run
      And the plan has been rolled back to "after begin"
      And the plan has been executed
      And "write it down" has been appended to the decision
      When the user undoes the last operation
      Then 1 child plan was invalidated

    Scenario Outline: A child that is applied already stands in the way of <act>
      Given the plan has run
      And "write it down" has been appended to the decision
      And the child plan is applied
      When the user tries <act>
      Then it is refused because the child plan is applied

      Examples:
        | act                        |
        | a rollback to the start    |
        | a revert of the decision   |
