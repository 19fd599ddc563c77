Feature: Checkpoints that a plan requires
  A plan requires checkpoints unless its policy says otherwise. A checkpoint that could not be
  made whole is then refused before anything is recorded of it, so nothing can continue from it.

  Rule: a run does not start without its first checkpoint

    Background:
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is "0.000001"

    Scenario: A partial first checkpoint is refused, and the plan says why
      When the user runs the plan with --include-uncommitted
      Then it is refused with the code 4 and the sentence The checkpoint `before execution` is partial: its deadline passed before everything was read
      And the plan is execute/errored with 0 steps done
      And the plan's own error is "The checkpoint `before execution` is partial: its deadline passed before everything was read"
      And no checkpoint is recorded

    Scenario: Trying again does not get around it
      Given the plan has been refused at its start
      And the user has tried to resume it
      When the user resumes the plan
      Then it is refused with the code 4 and the sentence The checkpoint `before execution` is partial: its deadline passed before everything was read
      And no step has ever run
      And no checkpoint is recorded

    Scenario: With more time the run starts with a whole checkpoint
      Given the plan has been refused at its start
      And the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is gone again
      When the user resumes the plan
      Then the exit code is 0
      And the checkpoint "before execution" lists nothing as left out and is whole
      And the sandbox is the project after `echo by one > a.txt`

    Scenario: A plan that was rolled back starts from what the user has made of its sandbox
      Given the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is gone again
      And the plan was run, rolled back, edited by `echo mine > mine.txt` and refused for lack of time
      When the user resumes the plan
      Then the exit code is 0
      And the checkpoint "before execution" holds the project after `echo mine > mine.txt`
      And the sandbox is the project after `echo mine > mine.txt; echo by one > a.txt`

    Scenario: A sandbox that was made again is the one that checkpoints are made of
      Given the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is gone again
      And a program was refused the first checkpoint, and the sandbox was deleted
      And the project has another commit
      When the same program executes the plan again
      Then it makes checkpoints of the sandbox that is recorded

  Rule: a step is not done without the checkpoints around it

    Background:
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | two  | writes b.txt |
      And the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is "0.000001"

    Scenario: A step whose outcome could not be checkpointed has failed
      When the user runs the plan
      Then the exit code is 8
      And the plan is execute/errored with 0 steps done
      And the tool calls in effect are
        | step | tool       | status |
        | 1    | write-file | failed |
      And the checkpoints are before execution, before one

    Scenario: Trying again does not get around the checkpoints of a step
      Given the plan has failed
      And the user has tried to resume it
      When the user resumes the plan
      Then it is refused with the code 4 and the sentence The rollback would overwrite what no checkpoint holds: README.md, run.sh, src
      And the plan's own error is "The rollback would overwrite what no checkpoint holds: README.md, run.sh, src"
      And the steps that ever ran are 1
      And the plan is execute/errored with 0 steps done

  Rule: a run does not end without its last checkpoint

    Background:
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is "0.000001"

    Scenario: A partial last checkpoint leaves the plan errored, with its work
      When the user runs the plan
      Then the exit code is 8
      And the error is "Step 1 of 1 (`one`) failed: The checkpoint `after execution` is partial: its deadline passed before everything was read"
      And the plan is execute/errored with 1 steps done
      And the checkpoints are before execution

    Scenario: With more time the run ends
      Given the plan has failed
      And the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is gone again
      When the user resumes the plan
      Then the exit code is 0
      And the checkpoint "after execution" lists nothing as left out and is whole
      And the sandbox is the project after `echo by one > a.txt`

  Rule: a run does not continue from a partial checkpoint that an earlier version recorded

    Background:
      Given a plan with the steps
        | step | does                          |
        | one  | writes a.txt                  |
        | two  | runs `test -e OUTSIDE/fixed` |

    Scenario: It goes back to the last whole checkpoint
      Given the plan has failed
      And an earlier version recorded the checkpoints "after one", "before two" as partial
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the exit code is 0
      And the steps that ever ran are 1, 2, 1, 2

    Scenario: Without a whole checkpoint it starts with one
      Given the plan has failed
      And an earlier version recorded all checkpoints as partial
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the exit code is 0
      And the checkpoint "before execution" lists nothing as left out and is whole

    Scenario: A plan that does not require checkpoints continues
      Given the plan can do without checkpoints
      And the plan has failed
      And an earlier version recorded the checkpoints "after one", "before two" as partial
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the exit code is 0
      And the steps that ever ran are 1, 2, 2
