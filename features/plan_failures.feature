Feature: When a step of a plan fails
  The failed state is kept for inspection, then the plan's own policy decides what happens to
  the sandbox. Once the cause is fixed, the same command continues.

  Rule: the policy decides what the sandbox holds

    Scenario Outline: A failing step under the policy <policy>
      Given a plan with the steps
        | step  | does                                                            |
        | one   | writes a.txt                                                    |
        | two   | runs `echo half > b.txt; rm README.md; test -e OUTSIDE/fixed`  |
        | three | writes c.txt                                                    |
      And on failure the plan is to <policy>
      When the user runs the plan
      Then the failure still tells the plan's id, place and checkpoint
      And the error is "Step 2 of 3 (`two`) failed: `shell` failed with status 1"
      And the sandbox is as it was at "<place>"
      And the plan is execute/errored with <done> steps done
      And the plan's last checkpoint is "<place>"

      Examples:
        | policy        | place            | done |
        | rollback-step | before two       | 1    |
        | rollback-plan | before execution | 0    |
        | keep          | failed: two      | 1    |

    Scenario Outline: Continuing under the policy <policy> once the cause is fixed
      Given a plan with the steps
        | step  | does                                                 |
        | one   | writes a.txt                                         |
        | two   | runs `echo more >> b.txt; test -e OUTSIDE/fixed`    |
        | three | writes c.txt                                         |
      And on failure the plan is to <policy>
      And the plan has failed
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the exit code is 0
      And the steps that ran are <steps>
      And the sandbox is the project after `echo by one > a.txt; echo more > b.txt; echo by three > c.txt`

      Examples:
        | policy        | steps   |
        | rollback-step | 2, 3    |
        | rollback-plan | 1, 2, 3 |
        | keep          | 2, 3    |

    Scenario Outline: The policy <policy> holds however few checkpoints are kept
      Given the variable CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN is "1"
      And a plan with the steps
        | step | does                                            |
        | one  | writes a.txt                                    |
        | two  | runs `echo half > b.txt; rm README.md; exit 7`  |
      And on failure the plan is to <policy>
      When the user runs the plan
      Then the sandbox is the project after `<state>`
      And the error is "Step 2 of 2 (`two`) failed: `shell` failed with status 7"

      Examples:
        | policy        | state                |
        | rollback-step | echo by one > a.txt  |
        | rollback-plan | true                 |

    Scenario Outline: Finished steps stay with the triggers "<triggers>" under the policy <policy>
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "<triggers>"
      And a plan with the steps
        | step  | does                                                            |
        | one   | writes a.txt                                                    |
        | two   | writes b.txt                                                    |
        | three | runs `echo more >> c.txt; rm README.md; test -e OUTSIDE/fixed` |
      And on failure the plan is to <policy>
      When the user runs the plan
      Then the exit code is 8
      And the sandbox is the project after `<state>`
      And the plan is execute/errored with 2 steps done
      And the checkpoint "before three" holds the project after `echo by one > a.txt; echo by two > b.txt`

      Examples:
        | triggers   | policy        | state                                                                       |
        | []         | rollback-step | echo by one > a.txt; echo by two > b.txt                                    |
        | on_error   | rollback-step | echo by one > a.txt; echo by two > b.txt                                    |
        | []         | keep          | echo by one > a.txt; echo by two > b.txt; echo more > c.txt; rm README.md  |

    Scenario Outline: With no trigger on, the next run continues at the failed step under <policy>
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan with the steps
        | step | does                                                |
        | one  | runs `echo more >> a.txt`                           |
        | two  | runs `echo more >> b.txt; test -e OUTSIDE/fixed`   |
      And on failure the plan is to <policy>
      And the plan has failed
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the steps that ever ran are 1, 2, 2
      And the sandbox is the project after `echo more > a.txt; echo more > b.txt`

      Examples:
        | policy        |
        | rollback-step |
        | keep          |

    Scenario: A step that destroys its own sandbox is a failure that says so
      Given a plan with the steps
        | step | does                                              |
        | one  | runs `mv ../project OUTSIDE/stolen`               |
      When the user runs the plan
      Then the failure still tells the plan's id, place and checkpoint
      And the error is "Step 1 of 1 (`one`) failed: The sandbox SANDBOX cannot be used: it is missing; and the sandbox could not be rolled back: The sandbox SANDBOX cannot be used: it is missing"

    Scenario: What cannot even be recorded leaves an interrupted plan
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | two  | writes b.txt |
      And the records cannot be written when step two begins
      When the user runs the plan
      Then it is refused with the code 1 and the sentence The disk gave up
      And the plan is execute/processing with 1 steps done
      And the sandbox is as it was at "before two"

  Rule: a write that cannot be checkpointed is not done, unless the plan can do without

    Scenario: No checkpoint, no write
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "before_tool_execute"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | two  | writes b.txt |
      And the disk has room for 1 snapshots
      When the user runs the plan
      Then the error is "Step 2 of 2 (`two`) failed: The checkpoint `before two` could not be made: The snapshot could not be stored: [Errno 28] No space left on device; and the sandbox was left as it is: the state before the step is not stored"
      And the steps that ever ran are 1
      And the sandbox is the project after `echo by one > a.txt`
      And the plan is execute/errored with 1 steps done

    Scenario: What can neither be stored nor thrown away stays where it is
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the disk has room for 1 snapshots
      When the user runs the plan
      Then the failure still tells the plan's id, place and checkpoint
      And the error is "Step 1 of 1 (`one`) failed: The checkpoint `after one` could not be made: The snapshot could not be stored: [Errno 28] No space left on device; and the sandbox could not be rolled back: The checkpoint `failed: one` could not be made: The snapshot could not be stored: [Errno 28] No space left on device"
      And the sandbox is the project after `echo by one > a.txt`
      And the plan is execute/errored with 0 steps done

    Scenario: Once there is room again, such a plan continues
      Given a plan with the steps
        | step | does                     |
        | one  | runs `echo more >> a.txt` |
      And the plan has failed with room for 1 snapshots
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo more > a.txt`
      And the checkpoint "found when going on" holds the project after `echo more > a.txt`

    Scenario: Without room for the first checkpoint no step runs
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has been made
      And the disk has room for 0 snapshots
      When the user executes the plan
      Then it is refused with the code 4 and the sentence The checkpoint `before execution` could not be made: The snapshot could not be stored: [Errno 28] No space left on device
      And the plan is execute/errored with 0 steps done

    Scenario: Without room for the last checkpoint the work is kept and can be ended later
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the disk has room for 1 snapshots
      When the user runs the plan
      Then the failure still tells the plan's id, place and checkpoint
      And the error is "Step 1 of 1 (`one`) failed: The checkpoint `after execution` could not be made: The snapshot could not be stored: [Errno 28] No space left on device"
      And the sandbox is the project after `echo by one > a.txt`

    Scenario: A plan that can do without checkpoints continues with a warning for each
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "before_step,after_tool_execute"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | two  | writes b.txt |
      And the plan can do without checkpoints
      And the disk has room for 0 snapshots
      When the user runs the plan
      Then the document is a success with the warnings
        | The checkpoint `before execution` could not be made |
        | The checkpoint `before step 1: one` could not be made |
        | What step 1 of 2 (`one`) changed is not recorded |
        | The checkpoint `after one` could not be made |
        | The checkpoint `before step 2: two` could not be made |
        | What step 2 of 2 (`two`) changed is not recorded |
        | The checkpoint `after two` could not be made |
        | The checkpoint `after execution` could not be made |
      And the sandbox is the project after `echo by one > a.txt; echo by two > b.txt`
      And the plan is execute/complete with 2 steps done

    Scenario: A plan that failed without any checkpoint is tried again where it is
      Given a plan with the steps
        | step | does                                              |
        | one  | runs `echo more >> a.txt; test -e OUTSIDE/fixed` |
      And the plan can do without checkpoints
      And the plan has failed with room for 0 snapshots
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo more > a.txt; echo more >> a.txt`
