Feature: Events while a plan runs
  With `--progress json`, a program that runs a plan reads one JSON object per line on stderr.
  Every event it reads is stored, and stdout carries only the result.

  Background:
    Given a plan with the steps
      | step | does             |
      | one  | writes a.txt     |
      | two  | runs `exit 3`    |

  Rule: the emitted events are the stored events

    Scenario: Every stored event is emitted, in the same order and words
      When the user runs the plan with --progress json
      Then the exit code is 8
      And the emitted events are the plan's log
      And the other lines are
        | type                   |
        | progress.stage         |
        | progress.plan_started  |
        | progress.step_started  |
        | progress.step_finished |
        | progress.step_started  |
        | progress.step_finished |
        | progress.plan_finished |

    Scenario: Continuing emits events as well
      Given the plan has failed
      When the user executes the plan with --progress json
      Then the exit code is 8
      And the emitted events are the end of the plan's log

    Scenario: What could not be stored is not emitted
      Given the records cannot be written when step two begins
      When the user runs the plan with --progress json
      Then the exit code is 1
      And the emitted events are the plan's log
      And no event says that the tool of step 2 was invoked

    Scenario: What was undone is not emitted
      Given the plan has been made
      When a program enters that the plan was cancelled, and its transaction fails
      Then no event was emitted
      And the log does not say "plan.cancelled"

    Scenario: An event that a kill kept from being emitted is in the log
      Given the plan has been made
      When executing it is killed when "tool.completed" is emitted
      Then the log has 1 "tool.completed" as its last but one event

  Rule: stderr belongs to the lines

    Scenario: The closing words are lines too in formats for people
      When the user runs "agents plan run ../plan.yaml --progress json --format plain"
      Then the exit code is 8
      And the last lines are
        | type         | text                                                     |
        | report.error | Step 2 of 2 (`two`) failed: `shell` failed with status 3 |
        | report.hint  | Fix the cause and run `agents plan resume PLAN` to continue, or `agents plan errors PLAN` to see what else can be done |

    Scenario: A warning is a line and part of the document
      Given the plan can do without checkpoints
      And the disk has room for 1 snapshots
      When the user runs the plan with --progress json
      Then a line has the warning "The checkpoint `after one` could not be made"
      And the document has the same warning

    Scenario: A closing word of success is a line
      Given the plan has only step one
      When the user runs "agents plan run ../plan.yaml --progress json --format plain"
      Then the exit code is 0
      And the last lines are
        | type           | text          |
        | report.message | Plan complete |

    Scenario: Progress can be turned off
      Given the plan has only step one
      When the user runs "agents plan run ../plan.yaml --progress none --format json"
      Then the exit code is 0
      And the error output is empty

  Rule: a listener that fails is not a failure of the plan

    Scenario Outline: <listener>
      Given the plan has only step one
      When the user runs the plan and the lines go to <listener>
      Then the exit code is 0
      And the plan is execute/complete with 1 steps done

      Examples:
        | listener                    |
        | a closed stream             |
        | a full disk                 |
        | a reader that went away     |
