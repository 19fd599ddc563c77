Feature: Applying to a place that cannot be written
  It is found out before anything changes. Where that is impossible, every resource is undone, even
  if another one cannot be.

  Background:
    Given a plan with a decision that has changed a repository, a directory and a database

  Scenario: One of several resources may not be written
    Given the directory can only be read while it is applied to
    When the user applies the plan
    Then the exit code is 4
    And the error's code is target_refused
    And the project is as it was
    And nothing of an apply is pending

  Scenario Outline: The superuser applies to <what> that is immutable
    When the user applies the plan while <what> is immutable
    Then the exit code is 4
    And the error's code is target_refused
    And the project is as it was
    And nothing of an apply is pending

    Examples:
      | what                    |
      | the directory           |
      | a file of the directory |
      | the project             |
      | the database            |

  Scenario: One resource fails and cannot be undone
    Given the directory fails and cannot be undone while it is applied to
    When the user applies the plan
    Then the exit code is 7
    And the project is as it was
    And the hint of the error is Fix the cause, then run `agents doctor --fix`, or `agents plan apply PLAN` to try again

  Scenario: The installation is repaired
    Given the directory has failed and could not be undone when the plan was applied
    When the user runs `agents doctor --fix` for it
    Then the exit code is 0
    And nothing of an apply is pending

  Scenario Outline: Killed at <point>, then cancelled
    Given the apply was killed at <point>
    When the user runs `agents plan cancel PLAN` for it
    Then the exit code is 0
    And the project is as before the apply
    And the plan's state is apply/cancelled or execute/cancelled
    And nothing of an apply is pending

    Examples:
      | point           |
      | apply-journaled |
      | files-staged    |
      | file-placed     |
      | branch-moved    |
      | target-settled  |
