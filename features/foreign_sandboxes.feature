@disk
Feature: A directory that is not the sandbox
  A rollback fills and empties a sandbox as it likes. So it must be the one that we made, or a copy
  of it, and never a directory that somebody put in its place.

  Background:
    Given a plan on a directory in a sandbox made by filesystem_copy

  Scenario Outline: <what> in the sandbox's place
    Given in the place of the sandbox there is one made by `<command>`
    When the user rolls the plan back to its first checkpoint
    Then the exit code is 4
    And the error's code is sandbox_missing
    And nothing in that place has changed

    Examples:
      | what                                | command                             |
      | An empty directory                  | true                                |
      | A directory of the user             | echo mine > mine.txt; mkdir in      |
      | A directory with one of the names   | echo mine > mine.txt; echo 9 > other |

  Scenario: A copy of the sandbox, as a backup has it
    Given in the place of the sandbox there is one made by `cp -a "$SANDBOX/." .; echo 3 > more`
    When the user rolls the plan back to its first checkpoint
    Then the exit code is 0

  Scenario: The sandbox itself, emptied by the agent
    Given the agent has then run `rm -r f d`
    When the user rolls the plan back to its first checkpoint
    Then the exit code is 0

  Scenario: A checkpoint meets one
    Given in the place of the sandbox there is one made by `echo mine > mine.txt`
    When the user makes a checkpoint in a new process
    Then the exit code is 4
    And nothing in that place has changed
