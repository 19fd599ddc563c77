Feature: Checkpoints that cannot be deleted
  All that are named go, or none. What is pinned, what the plan is at and what it needs to go on
  stays; each refusal is one sentence and a hint, and everything is as it was.

  Rule: what is kept on purpose or needed stays

    Scenario: Pinned ones
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoints "after one", "after two" are pinned
      When the user deletes the checkpoints "before one", "after one", "after two"
      Then it is refused with the code 4 and the sentence Pinned checkpoints cannot be deleted: «after one», «after two»
      And the hint is "Run `agents plan checkpoint unpin PLAN «after one» «after two»` first, or leave it out"
      And nothing has changed

    Scenario: The one the plan is at
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user deletes the checkpoints "after one", "after execution"
      Then it is refused with the code 4 and the sentence Checkpoint «after execution» cannot be deleted: it is the plan's current checkpoint
      And nothing has changed

    Scenario: The one a rollback went to
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user deletes the checkpoints "after one"
      Then it is refused with the code 4 and the sentence Checkpoint «after one» cannot be deleted: it is the plan's current checkpoint
      And nothing has changed

    Scenario: The one a failed plan continues from
      Given a plan with the steps
        | step | does          |
        | one  | writes a.txt  |
        | two  | runs `exit 3` |
      And on failure the plan is to keep
      And the plan has failed
      When the user deletes the checkpoints "before two"
      Then it is refused with the code 4 and the sentence Checkpoint «before two» cannot be deleted: a run of the plan resumes from it
      And nothing has changed

    Scenario: The one a run goes back to when it fails
      Given a plan with the steps
        | step | does                |
        | one  | writes a.txt        |
        | two  | runs `kill -9 $PPID` |
      And on failure the plan is to rollback-plan
      And the plan has been made
      And executing it has been killed by its own tool
      When the user deletes the checkpoints "before execution"
      Then it is refused with the code 4 and the sentence Checkpoint «before execution» cannot be deleted: a run of the plan rolls back to it when a step fails
      And nothing has changed

    Scenario Outline: What an interrupted rollback needs: "<label>"
      Given a plan that wrote a.txt in step one and b.txt in step two
      And rolling it back to "after one" has been killed when everything is restored and nothing recorded, at the 1. time
      When the user deletes the checkpoints "<label>"
      Then it is refused with the code 4 and the sentence Checkpoint «<label>» cannot be deleted: an unfinished operation needs it
      And the hint is "Run `agents plan execute PLAN` first, or leave this one out"
      And nothing has changed

      Examples:
        | label                        |
        | after one                    |
        | before rollback to after one |

    Scenario: What is left over of a failure can go
      Given a plan with the steps
        | step | does          |
        | one  | writes a.txt  |
        | two  | runs `exit 3` |
      And the plan has failed
      When the user deletes the checkpoints "failed: two"
      Then the exit code is 0
      And the checkpoints are before execution, before one, after one, before two

  Rule: what is not there cannot be deleted

    Scenario: A second time
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoint "after one" has been deleted
      When the user deletes it once more
      Then the exit code is 5
      And there is one sentence and a hint
      And nothing has changed

    Scenario: One of several is unknown
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user deletes what is called @-2 @-99
      Then it is refused with the code 5 and the sentence There is no checkpoint `@-99`
      And nothing has changed

    Scenario: A checkpoint of another plan
      Given a plan that wrote a.txt in step one and b.txt in step two
      And another plan has run too
      When a program deletes the first plan's "after one" as if it were that plan's
      Then the program is told that Checkpoint «after one» belongs to plan PLAN, not to OTHER
      And nothing has changed

    Scenario: The user names a checkpoint of another plan
      Given a plan that wrote a.txt in step one and b.txt in step two
      And another plan has run too
      When the user deletes the first plan's "after one" in that plan
      Then it is refused with the code 4 and the sentence Checkpoint «after one» belongs to plan PLAN, not to OTHER
      And nothing has changed

  Rule: a plan has one holder

    Scenario: Another process holds the plan
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan is held by a process of another host
      When the user deletes the checkpoints "after one"
      Then it is refused with the code 6 and the sentence Plan PLAN is held by process LIVING on elsewhere.example.org (`agents plan execute`)
      And nothing has changed
