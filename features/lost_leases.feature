Feature: Files of a plan that another process has taken over
  The database refuses writes of a process that lost its lease. Files have no such guard: a
  process gets a sandbox to change only if it still holds the plan.

  Rule: who lost the lease leaves the sandbox alone

    Scenario: A lost sandbox is not filled again
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "before two"
      And the plan's sandbox has been deleted
      And another host takes the plan over at sandbox-reopened
      When the user executes the plan
      Then the exit code is 6
      And the sandbox has not changed since the plan was taken over

    Scenario: A subplan is not merged
      Given a plan whose subplans run sequential
        | subplan | does                    |
        | one     | runs `echo 1 > one.txt` |
      And another host takes the plan over at snapshot-taken, once its child has ended
      When the user runs the plan
      Then the exit code is 6
      And the sandbox has not changed since the plan was taken over

    Scenario: A merge in conflict is not rolled back
      Given a plan whose subplans run parallel
        | subplan | does                        |
        | one     | runs `echo one > README.md` |
        | two     | runs `echo two > README.md` |
      And another host takes the plan over at resource-merged, once a child was merged
      When the user runs the plan
      Then the exit code is 6
      And the sandbox has not changed since the plan was taken over

    Scenario: A conflict is not resolved
      Given the plan has come into conflict over README.md
      And another host takes the plan over at snapshot-taken
      When the user resolves the conflict with mine
      Then the exit code is 6
      And the sandbox has not changed since the plan was taken over

  Rule: who lost the lease stores and deletes no snapshots

    Scenario: The result of a tool is not stored
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And another host takes the plan over at tool-ended
      When the user runs the plan
      Then the exit code is 6
      And the stored snapshots are those of when the plan was taken over

    Scenario: Snapshots of pruned checkpoints are not deleted
      Given a plan that wrote a.txt in step one and b.txt in step two
      And a plan may keep 2 checkpoints
      And another host takes the plan over at group-recorded
      When the user makes a checkpoint "now"
      Then the exit code is 6
      And the stored snapshots are those of when the plan was taken over
