@disk
Feature: Snapshots that are dropped while a plan runs
  At its limit a plan drops one with every checkpoint. The file of the old ref becomes that of
  the new one: some file systems are slow where many files are made and removed.

  Scenario Outline: A snapshot after <dropped> dropped ones is whole, and they are gone
    Given a sandbox in which the agent has run `echo 1 > f`
    And a watch of the sandbox has begun
    And <dropped> snapshots have been made and dropped
    When the agent runs `echo 2 > f`, and then there is a checkpoint
    Then the dropped snapshots are missing, and the others are whole
    And nothing is wrong with the store, and no draft is left in it

    Examples:
      | dropped |
      | 1       |
      | 3       |

  Scenario Outline: The file of a dropped ref <what>
    Given a sandbox in which the agent has run `echo 1 > f`
    And a watch of the sandbox has begun
    And 1 snapshots have been made and dropped
    And the file of the dropped ref <what>
    When the agent runs `echo 2 > f`, and then there is a checkpoint
    Then the dropped snapshots are missing, and the others are whole

    Examples:
      | what          |
      | goes          |
      | grows         |
