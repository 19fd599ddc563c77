Feature: Waiting for another process
  A wait for a lock of another process is announced, names that process, and ends.

  Background:
    Given a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    And the plan has run

  Scenario Outline: A wait for <what> ends as busy
    Given another process has locked <what>
    And nobody waits for long
    When the user <does>, watched
    Then the exit code is 6
    And the user was told that it waits for the other process, and then that it is busy

    Examples:
      | what                        | does                     |
      | the mirror of the project   | runs the plan once more  |
      | the snapshots of the mirror | takes a checkpoint       |

  Scenario: A lock that nobody has signed
    Given another process has locked the directory of the configuration
    And nobody waits for long
    When the user runs "agents config set plan.max-child-depth 3"
    Then the exit code is 6
    And the error output says "is locked by another process"

  Scenario: A wait ends when the other process is done
    Given another process has locked the mirror of the project
    And a third process runs the plan
    When the lock is released once the third process waits for it
    Then the third process ends well
