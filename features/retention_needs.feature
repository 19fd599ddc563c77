Feature: What a plan needs to go on is not pruned
  However few checkpoints a plan may keep, those that it continues from after a failure stay, also
  when an undo has brought the failure back.

  Rule: what a plan needs to go on after a failure stays

    Scenario: The state before a failed step, when the failure itself was kept
      Given a plan with the steps
        | step | does                                               |
        | one  | writes a.txt                                       |
        | two  | runs `echo more >> b.txt; test -e OUTSIDE/fixed`  |
      And on failure the plan is to keep
      And the plan has failed
      And a plan may keep 1 checkpoints
      And the plan has been rolled back to "failed: two", which was undone
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the sandbox is the project after `echo by one > a.txt; echo more > b.txt`

    Scenario: The start of a run that goes back to it on failure
      Given a plan with the steps
        | step | does                                               |
        | one  | writes a.txt                                       |
        | two  | runs `echo more >> b.txt; test -e OUTSIDE/fixed`  |
      And on failure the plan is to rollback-plan
      And a plan may keep 1 checkpoints
      And the plan has failed
      And a checkpoint "mine" has been made by hand
      When the user executes the plan
      Then the sandbox is the project after `true`
      And the plan is execute/errored with 0 steps done

    Scenario: A run continues if a snapshot that nothing needs cannot be deleted
      Given a plan may keep 2 checkpoints
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | two  | writes b.txt |
      And the file system does not let refs be removed
      When the user runs the plan
      Then the plan is execute/complete with 2 steps done
      And it warns that "Snapshots that no checkpoint needs could not be deleted"
      And taking the plan up again drops them
