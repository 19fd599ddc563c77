Feature: Pruning while somebody rolls back
  A rollback holds the plan from its guards to its last record. Whoever wants to make, prune or
  delete checkpoints meanwhile is refused, so that nothing the rollback needs can go.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Rule: the second process is refused, and learns who was first

    Scenario Outline: A checkpoint while a rollback is at <point>
      Given another process, rolling back to "before two", waits at <point>
      And a plan may keep 1 checkpoints
      When the user makes a checkpoint "now"
      Then it is refused because the other process holds the plan
      And the other process ends with the plan at "before two" and with a way back

      Examples:
        | point               |
        | snapshot-taken      |
        | present-state-saved |
        | rollback-journaled  |
        | resource-restored   |
        | rollback-recorded   |

    Scenario: Deleting while a rollback restores files
      Given another process, rolling back to "before two", waits at resource-restored
      When the user deletes the checkpoints "before two"
      Then it is refused because the other process holds the plan
      And the other process ends with the plan at "before two" and with a way back

    Scenario: A program that prunes while a rollback restores files
      Given another process, rolling back to "before two", waits at resource-restored
      And a plan may keep 1 checkpoints
      When a program tries to prune the plan's checkpoints
      Then the program is told that the other process holds the plan
      And the other process ends with the plan at "before two" and with a way back

    Scenario: Pinning gets through
      Given another process, rolling back to "before two", waits at resource-restored
      When the user pins the checkpoints "after two"
      Then the exit code is 0
      And the pinned checkpoints are "after two"
      And the other process ends with the plan at "before two" and with a way back

  Rule: nobody takes what a rollback needs

    Scenario: All at once
      Given a plan may keep 2 checkpoints
      When three processes roll back to "before two" and three make checkpoints, all at once
      Then each has done its work or was refused, and the last rollback can be undone
      And a checkpoint is gone only if it was gone before a rollback to it began
