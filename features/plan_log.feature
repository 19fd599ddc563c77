Feature: What happened to a plan
  `agents plan log` lists every event, oldest first. An event is stored together with the change it describes,
  so the two cannot disagree.

  Rule: whatever happens is in the log, once and in order

    Scenario: A run from its beginning to its end
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has run
      When the user asks what happened to the plan
      Then the log says
        | what                | details                                 |
        | plan.created        | Plan `local/shop` created for PROJECT      |
        | decision.created    | Decided: What should be done? local/shop |
        | sandbox.created     | Sandbox of `project` created by git_worktree |
        | checkpoint.created  | Checkpoint `before execution` created      |
        | plan.phase_changed  | Plan moved from strategize to execute    |
        | plan.state_changed  | Plan is now execute/processing          |
        | checkpoint.created  | Checkpoint `before one` created            |
        | tool.invoked        | Step 1, one: write-file started              |
        | tool.completed      | Step 1, one: write-file finished after a while   |
        | checkpoint.created  | Checkpoint `after one` created             |
        | checkpoint.created  | Checkpoint `after execution` created       |
        | plan.state_changed  | Plan is now execute/complete            |

    Scenario: A failure and what was done about it
      Given a plan with the steps
        | step | does               |
        | one  | runs `exit 3`      |
      And the plan has failed
      When the user asks what happened to the plan with --limit 7
      Then the log says
        | what                | details                                                             |
        | tool.invoked        | Step 1, one: shell started                                               |
        | tool.errored        | Step 1, one: shell failed after a while: `shell` failed with status 3    |
        | checkpoint.created  | Checkpoint `failed: one` created                                       |
        | checkpoint.restored | Sandbox rolled back to `before one`                                  |
        | decision.created    | Decided: Step 1 of 1 (`one`) failed: `shell` failed with status 3 rollback-step |
        | plan.state_changed  | Plan is now execute/errored                                         |
        | plan.errored        | Plan failed at step 1 of 1: `shell` failed with status 3            |

    Scenario: A rollback is among the rest
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user asks what happened to the plan with --limit 4
      Then the log says
        | what                | details                                        |
        | checkpoint.created  | Checkpoint `before rollback to after one` created |
        | rollback            | Started: rollback to after one                   |
        | plan.state_changed  | Plan is now execute/queued                     |
        | checkpoint.restored | Rolled back to `after one`                     |
        | sandbox.rolled_back | Sandbox of `project` rolled back               |

    Scenario: A second rollback to the same checkpoint is logged too
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the plan has been rolled back to "after one"
      When the user asks what happened to the plan with --limit 3
      Then the log says
        | what                | details                                        |
        | checkpoint.created  | Checkpoint `before rollback to after one` created |
        | rollback            | Started: rollback to after one                   |
        | checkpoint.restored | Rolled back to `after one`                     |
        | sandbox.rolled_back | Sandbox of `project` rolled back               |

    Scenario: A failed rollback is logged as failed
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      And the plan has run
      And a rollback to "before execution" has failed
      When the user asks what happened to the plan with --limit 1
      Then the log says
        | what               | details                                                               |
        | checkpoint.created | Checkpoint `before rollback to before execution` created                 |
        | rollback           | Started: rollback to before execution                                   |
        | rollback           | Could not be completed and was undone: rollback to before execution   |

    Scenario: A killed rollback is logged as unfinished
      Given a plan that wrote a.txt in step one and b.txt in step two
      And rolling it back to "after one" has been killed when everything is restored and nothing recorded, at the 1. time
      When the user asks what happened to the plan with --limit 1
      Then the log says
        | what               | details                                               |
        | checkpoint.created | Checkpoint `before rollback to after one` created        |
        | rollback           | Started, but not finished: rollback to after one       |

    Scenario: Pruned checkpoints are logged
      Given a plan may keep 2 checkpoints
      And a plan that wrote a.txt in step one and b.txt in step two
      When the user asks what happened to the plan with --type checkpoint.pruned
      Then the log says
        | what              | details                        |
        | checkpoint.pruned | Checkpoint `after one` pruned  |
        | checkpoint.pruned | Checkpoint `before two` pruned |

    Scenario Outline: What no record shows is logged by the code that knows it
      Given a program has entered that <something happened>
      When the user asks what happened to the plan with --limit 1
      Then the log says
        | what   | details    |
        | <what> | <sentence> |

      Examples:
        | something happened                      | what                | sentence                                     |
        | the plan was cancelled, it is too late  | plan.cancelled      | Plan cancelled: it is too late               |
        | the plan was cancelled                  | plan.cancelled      | Plan cancelled                               |
        | step 2 is tried again                   | tool.retried        | Step 2: shell retried (1 of 3)        |
        | the root decision no longer stands      | decision.superseded | Decision superseded: What should be done?       |
        | step 1 took 90 seconds                  | tool.completed      | Step 1: shell finished after 90.0 s              |
        | step 1 ended, and nobody looked         | tool.completed      | Step 1: shell finished                           |

  Rule: the log can be narrowed, and is there in every format

    Scenario: Events of some types only
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one", which was undone
      When the user asks what happened to the plan with --type tool.i --type checkpoint.restored
      Then the log says
        | what                | details                                                 |
        | tool.invoked        | Step 1, one: write-file started                              |
        | tool.invoked        | Step 2, two: write-file started                              |
        | checkpoint.restored | Rolled back to `after one`                              |
        | checkpoint.restored | Undone: plan restored to `before rollback to after one` |

    Scenario: Nothing of a kind
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user runs "agents plan log @latest --type tool.errored --format table"
      Then the exit code is 0
      And the output says "No matching events."

    Scenario: A type that does not exist is refused
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user runs "agents plan log @latest --type tol"
      Then the exit code is 2
      And the error output says "No event type starts with `tol`"
      And the error output says "Did you mean `tool`?"

    Scenario: The data has every field, and operations beside the events
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user asks for the plan's log as data
      Then it has every stored event with number, type, time and facts
      And it has the rollback to "after one" with its safety checkpoint "before rollback to after one"

    Scenario Outline: As <format>
      Given a plan whose step has an odd name
      When the user runs "agents plan log @latest --format <format>"
      Then the exit code is 0
      And the output says "checkpoint.created"
      And the output shows the odd name and obeys nothing in it

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |
        | json   |
        | yaml   |

  Rule: what cannot be understood does not hide the rest

    Scenario Outline: <what> is shown as it is
      Given a plan that wrote a.txt in step one and b.txt in step two
      And another program has entered "<what>" with <facts>
      When the user asks what happened to the plan with --limit 1
      Then the log says
        | what   | details |
        | <what> | <shown> |

      Examples:
        | what               | facts                                      | shown            |
        | moon.risen         | {"over": "Köln"}                           | {"over": "Köln"} |
        | checkpoint.created | {"label": 5}                               | {"label": 5}     |
        | checkpoint.created | [                                          | {}               |

    Scenario: Events go with their plan
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the plan is deleted from the database
      Then no event is left
