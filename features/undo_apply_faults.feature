Feature: Undoing an apply, disturbed at every stage
  Whatever stage the undo of an apply dies or fails at, the next command completes or undoes it.
  The project is then as after the apply or as before it, and so is the record of the plan.

  Background:
    Given a plan with work whose result is applied with `--include-uncommitted` to a project with other work

  Rule: a killed undo is completed by the next command

    Scenario Outline: Killed at <point>
      When the undo of the apply is killed each time it is at <point>, and then the plan is executed
      Then the apply was each time undone

      Examples:
        | point              |
        | apply-journaled    |
        | target-locked      |
        | files-staged       |
        | file-placed        |
        | target-written     |
        | branch-moved       |
        | target-settled     |
        | sandbox-reopened   |
        | sandboxes-rebuilt  |
        | apply-recorded     |

    Scenario Outline: A killed redo, at <point>
      Given the last operation has been undone
      When the redo of the apply is killed each time it is at <point>, and then the plan is executed
      Then the apply was each time in effect

      Examples:
        | point           |
        | apply-journaled |
        | file-placed     |
        | branch-moved    |
        | target-settled  |
        | apply-recorded  |

    Scenario: The next undo says so, and does no more
      Given the undo of the apply was killed at branch-moved
      When the user undoes the last operation
      Then the exit code is 0
      And the plan is execute/complete with 1 steps done
      And everything in the project is as before the apply

    Scenario: The user changed a file meanwhile
      Given the undo of the apply was killed at target-locked
      And the user has since run `echo mine >> new.txt`
      When the plan is executed
      Then everything in the project is as after the apply, besides `echo mine >> new.txt`
      And the plan is apply/applied with 1 steps done

  Rule: a failed undo is undone at once

    Scenario Outline: Failing at <point>
      When the undo of the apply fails each time it is at <point>
      Then the apply was each time in effect

      Examples:
        | point             |
        | apply-journaled   |
        | target-locked     |
        | files-staged      |
        | file-placed       |
        | target-written    |
        | branch-moved      |
        | target-settled    |
        | sandbox-reopened  |
        | sandboxes-rebuilt |
