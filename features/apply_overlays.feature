Feature: Applying what was made in an overlay
  The lower directory of an overlay must not be written to while it is mounted, so for the apply it
  is unmounted.

  Background:
    Given a plan that changed a directory in an overlay

  Scenario: The directory gets the result while the overlay is not mounted
    Given it is watched whether the overlay is mounted
    When the user applies the plan
    Then the exit code is 0
    And the directory holds the result
    And the overlay was not mounted when files were placed
    And the sandbox is mounted and holds the result

  Scenario: It goes with the other sandboxes
    Given sandboxes are removed on_apply
    When the user applies the plan
    Then the exit code is 0
    And the directory holds the result
    And nothing of the overlay is left

  Scenario: A failed apply leaves it as it was
    Given the apply will fail at target-settled
    When the user applies the plan
    Then the error tells that "the disk is on fire"
    And the project is as it was
    And the sandbox is mounted and holds the result

  Scenario: While somebody works in it a killed apply waits
    Given the apply was killed at apply-journaled
    And a process works in the overlay
    When the user applies the plan
    Then the exit code is 6
    And the error tells that "is in use"

  Scenario: While somebody works in it nothing is applied
    Given a process works in the overlay
    When the user applies the plan
    Then the exit code is 6
    And the error tells that "is in use"
    And the project is as it was
    And the plan is execute/complete with 1 steps done
