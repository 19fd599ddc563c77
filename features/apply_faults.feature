Feature: Applying, disturbed at every stage
  Whatever stage an apply dies or fails at, the next command completes or undoes it. The project is
  then as before or as after: all its files, its index, its refs and its reflog.

  Background:
    Given a plan with a validation whose result will be applied to a project with work in progress

  Rule: a killed apply is completed when it is asked for again

    Scenario Outline: Killed at <point>
      When the apply is killed each time it is at <point>, and then asked for again
      Then the project was each time as after it

      Examples:
        | point            |
        | lease-taken      |
        | target-planned   |
        | apply-begun      |
        | uncaptured-kept  |
        | validation-ended |
        | uncaptured-restored |
        | apply-journaled  |
        | target-locked    |
        | objects-brought  |
        | files-staged     |
        | file-placed      |
        | target-written   |
        | branch-moved     |
        | target-settled   |
        | apply-recorded   |

    Scenario Outline: Killed at <point> with `<options>`
      Given it is applied with `<options>`
      When the apply is killed each time it is at <point>, and then asked for again
      Then the project was each time as after it

      Examples:
        | options       | point          |
        | --no-commit   | target-locked  |
        | --no-commit   | file-placed    |
        | --no-commit   | target-settled |
        | --branch new  | objects-brought |
        | --branch new  | branch-moved   |

  Rule: any other command leaves nothing in between

    Scenario Outline: Killed at <point>, then executed
      When the apply is killed each time it is at <point>, and then the plan is executed
      Then the project was each time as before it or as after it

      Examples:
        | point            |
        | validation-ended |
        | apply-journaled  |
        | file-placed      |
        | branch-moved     |

    Scenario: Killed when a validation has just held it back
      Given a plan that writes new.txt, with the validations
        | name | run   | mode     |
        | look | false | required |
      And the apply was killed at validations-recorded
      When the user applies the plan
      Then the error's code is validation_failed
      And the project is as it was
      And the plan is apply/constrained with 1 steps done

  Rule: a failed apply is undone at once

    Scenario Outline: Failing at <point>
      When the apply fails each time it is at <point>
      Then the project was each time as before it

      Examples:
        | point            |
        | target-planned   |
        | uncaptured-kept  |
        | validation-ended |
        | uncaptured-restored |
        | apply-journaled  |
        | target-locked    |
        | objects-brought  |
        | files-staged     |
        | file-placed      |
        | target-written   |
        | branch-moved     |
        | target-settled   |

    Scenario Outline: With `<options>`
      Given it is applied with `<options>`
      When the apply fails each time it is at target-settled
      Then the project was each time as before it

      Examples:
        | options      |
        | --branch new |
        | --no-commit  |

    Scenario: Directories that can only be read
      Given a plan that ran `echo new > new.txt; mkdir d; echo 1 > d/x; rm src/app.py; chmod 555 d src` after the user ran `mkdir src/more; echo 1 > src/more/y`
      When the apply fails each time it is at target-settled
      Then the project was each time as before it

    Scenario: On a project without commits
      Given a plan on a project without commits that ran `echo new > new.txt`
      When the apply fails each time it is at target-settled
      Then the project was each time as before it

    Scenario: Killed while it is undone
      When the apply fails at branch-moved, and is killed at target-undone
      Then the project was each time as before it or as after it
