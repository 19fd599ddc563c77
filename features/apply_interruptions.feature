Feature: Stopping an apply
  Ctrl-C leaves the project as it was, or comes too late.

  Background:
    Given a plan that ran `echo new > new.txt; sed -i s/19/last/ list.txt` on a project with a list of 19 lines

  Scenario Outline: Ctrl-C at <point>
    Given the user presses Ctrl-C when the apply is at <point>
    When the user applies the plan
    Then the exit code is 130
    And the error tells that "nothing was applied"
    And the project is as it was
    And the plan is execute/complete with 1 steps done

    Examples:
      | point          |
      | apply-begun    |
      | target-locked  |
      | file-placed    |
      | branch-moved   |

  Scenario: Ctrl-C between validations and apply
    Given a plan that writes new.txt, with the validations
      | name | run  | mode     |
      | look | true | required |
    And the user presses Ctrl-C when the apply is at validation-ended
    When the user applies the plan
    Then the exit code is 130
    And the project is as it was
    And the plan is execute/complete with 1 steps done

  Scenario: Too late
    Given the user presses Ctrl-C when the apply is at apply-recorded
    When the user applies the plan
    Then the project's files are those of the sandbox
    And the plan is apply/applied with 1 steps done

  Scenario: Twice, the second time while it is undone
    Given the user presses Ctrl-C when the apply is at file-placed, and again at target-undone
    When the user applies the plan
    Then the exit code is 130
    And the error tells that "while applying"

  Rule: whoever calls it gets the same

    Scenario: A program that takes up an apply that was killed
      Given the apply was killed at file-placed
      When a program applies the plan
      Then the program learns what was applied
      And the plan is apply/applied with 1 steps done

    Scenario: A program that asks what was applied before anything was
      When a program asks what was applied
      Then the program is told that a plan in execute/complete cannot show what was applied
