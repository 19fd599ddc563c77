Feature: Verifying checkpoints
  Everything that a rollback would need is read back from the disk. Damage is listed, all of it.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Rule: whole checkpoints are called whole

    Scenario: All checkpoints of a plan
      When the user verifies the plan's checkpoints
      Then the exit code is 0
      And all 6 checkpoints are whole

    Scenario Outline: One checkpoint, named <name>
      When the user verifies the checkpoint <name>
      Then the exit code is 0
      And only the checkpoint "<label>" was verified

      Examples:
        | name    | label            |
        | @first  | before execution |
        | @latest | after execution  |
        | @-2     | after two        |

    Scenario: Checkpoints that a rollback went past are verified too
      Given the plan has been rolled back to "after one"
      When the user verifies the plan's checkpoints
      Then all 7 checkpoints are whole

    Scenario: A plan without checkpoints has none that is damaged
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has been made
      When the user verifies the plan's checkpoints
      Then all 0 checkpoints are whole

  Rule: damage is found and listed

    Scenario: Every checkpoint that needs lost bytes is listed
      Given the stored bytes of b.txt are gone
      When the user verifies the plan's checkpoints
      Then the exit code is 7
      And the damaged checkpoints are after two, after execution
      And the error is "2 of 6 checkpoints cannot be restored" with the code snapshot_corrupt

    Scenario: A damaged checkpoint does not make another look damaged
      Given the stored bytes of b.txt are gone
      When the user verifies the checkpoint @first
      Then the exit code is 0

    Scenario: Bytes that no ref keeps count as lost
      Given an agent has deleted the refs of all snapshots
      When the user verifies the plan's checkpoints
      Then the exit code is 7
      And 6 checkpoints are damaged, because "keeps snapshot"

    Scenario: Without the private repository all is lost
      Given all private repositories have been deleted
      When the user verifies the plan's checkpoints
      Then the exit code is 7
      And 6 checkpoints are damaged, because "cannot be used: No such file or directory"

    Scenario Outline: <format> tells the whole from the damaged
      Given the stored bytes of b.txt are gone
      When the user reads the verification as <format>
      Then the exit code is 7
      And it names the damaged checkpoints

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |
        | yaml   |

    Scenario: What a running plan dropped meanwhile is not damage
      Given the checkpoints of a state are dropped while they are being verified
      When the user verifies the plan's checkpoints
      Then the exit code is 0
      And all 4 checkpoints are whole

  Rule: what does not exist cannot be verified

    Scenario: A checkpoint that does not exist
      When the user verifies the checkpoint @-99
      Then the exit code is 5
