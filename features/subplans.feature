Feature: Subplans
  A step may have other plans do a part of the work, each in sandboxes of its own that start
  from the parent's state; what they made is merged into the parent's.

  Rule: children are plans of their own

    Scenario: What parallel children made is merged, and the plan continues from there
      Given a plan whose subplans run parallel
        | subplan | does                                          |
        | docs    | runs `test -f begin.txt && echo d > docs.txt` |
        | docs    | runs `mkdir doc && echo e > doc/more.txt`     |
        | tests   | runs `test -f begin.txt && echo t > tests.txt` |
      When the user runs the plan
      Then the exit code is 0
      And the plan is execute/complete with 3 steps done
      And the sandbox is the project after `echo begin > begin.txt; echo d > docs.txt; mkdir doc; echo e > doc/more.txt; echo t > tests.txt; echo end > end.txt`
      And the sandbox of docs is the project after `echo begin > begin.txt; echo d > docs.txt; mkdir doc; echo e > doc/more.txt`
      And the sandbox of tests is the project after `echo begin > begin.txt; echo t > tests.txt`
      And the project is untouched

    Scenario: Children have a lifecycle, and one decision spawned them
      Given a plan whose subplans run parallel
        | subplan | does             |
        | docs    | writes docs.txt  |
        | tests   | writes tests.txt |
      When the user runs the plan
      Then the subplans are
        | subplan | state            |
        | docs    | execute/complete |
        | tests   | execute/complete |
      And the decision to spawn says
        | type                   | chosen      |
        | subplan_parallel_spawn | docs, tests |

    Scenario: Sequential children see what those before them made
      Given a plan whose subplans run sequential
        | subplan | does                                           |
        | docs    | writes docs.txt                                |
        | tests   | runs `test -f docs.txt && echo t > tests.txt` |
      When the user runs the plan
      Then the exit code is 0
      And the sandbox is the project after `echo begin > begin.txt; echo by docs > docs.txt; echo t > tests.txt; echo end > end.txt`
      And the decision to spawn says
        | type          | chosen |
        | subplan_spawn | docs   |
        | subplan_spawn | tests  |

    Scenario: Children that depend on others start from what those made
      Given a plan whose subplans run dependency_ordered
        | subplan | does                                                        | after |
        | last    | runs `cat a.txt b.txt > last.txt`                           | a b   |
        | a       | writes a.txt                                                |       |
        | b       | runs `test ! -f a.txt && echo b > b.txt`                    |       |
      When the user runs the plan
      Then the exit code is 0
      And the sandbox is the project after `echo begin > begin.txt; echo by a > a.txt; echo b > b.txt; cat a.txt b.txt > last.txt; echo end > end.txt`

    Scenario: Checkpoints are made around each child
      Given the project wants the triggers on_subplan_spawn, after_subplan
      And a plan whose subplans run parallel
        | subplan | does             |
        | docs    | writes docs.txt  |
        | tests   | writes tests.txt |
      When the user runs the plan
      Then the checkpoints are
        | label                | trigger          |
        | before execution     | pre_execute      |
        | before subplan docs  | on_subplan_spawn |
        | before subplan tests | on_subplan_spawn |
        | spawned: docs, tests | decision         |
        | after subplan docs   | after_subplan    |
        | after subplan tests  | after_subplan    |
        | after execution      | post_execute     |

    Scenario: A step with subplans has the checkpoints of a tool that writes
      Given the project wants the triggers before_tool_execute, after_tool_execute
      And a plan whose subplans run parallel
        | subplan | does             |
        | docs    | writes docs.txt  |
      When the user runs the plan
      Then the checkpoints are
        | label            | trigger             | tool          |
        | before execution | pre_execute         |               |
        | before begin     | before_tool_execute | write-file    |
        | after begin      | after_tool_execute  | write-file    |
        | before middle    | before_tool_execute | spawn-subplan |
        | spawned: docs    | decision            | spawn-subplan |
        | after middle     | after_tool_execute  | spawn-subplan |
        | before end       | before_tool_execute | write-file    |
        | after end        | after_tool_execute  | write-file    |
        | after execution  | post_execute        |               |

    Scenario: However few checkpoints a subplan keeps, its work is merged
      Given a plan may keep 1 checkpoints
      And a plan whose subplans run parallel
        | subplan | does             |
        | docs    | writes docs.txt  |
        | tests   | writes tests.txt |
      When the user runs the plan
      Then the sandbox is the project after `echo begin > begin.txt; echo by docs > docs.txt; echo by tests > tests.txt; echo end > end.txt`

    Scenario: Parallel children run at the same time
      Given a plan whose subplans run parallel
        | subplan | does                                                                     |
        | a       | runs `touch OUTSIDE/a; until test -f OUTSIDE/b; do sleep 0.05; done` |
        | b       | runs `touch OUTSIDE/b; until test -f OUTSIDE/a; do sleep 0.05; done` |
      And its subplans have `timeout_per_subplan_seconds` 300
      When the user runs the plan
      Then the exit code is 0

    Scenario: More children than may run at once wait for each other
      Given a plan whose subplans run parallel
        | subplan | does                                                               |
        | a       | runs `echo a >> OUTSIDE/runs; sleep 0.3; echo a-end >> OUTSIDE/runs` |
        | b       | runs `echo b >> OUTSIDE/runs; sleep 0.3; echo b-end >> OUTSIDE/runs` |
      And its subplans have `max_parallel` 1
      When the user runs the plan
      Then the exit code is 0
      And the runs were, in this order, a a-end b b-end

    Scenario: A child inherits arguments and what the parent has saved
      Given a plan whose subplan writes an argument and what the parent's first step gave back
      When the user runs the plan with --arg who=you
      Then the exit code is 0
      And said.txt in the sandbox is `you 42\n`

  Rule: subplans may have subplans, up to a depth

    Scenario: Nested subplans
      Given a plan whose subplans have subplans, 3 deep
      When the user runs the plan
      Then the exit code is 0
      And deep.txt in the sandbox is `deep\n`

    Scenario: Too deep
      Given a plan whose subplans have subplans, 3 deep
      And plans may be 2 deep
      When the user runs the plan
      Then it is refused with the code 4 and the sentence Subplans of `local/shop` are 3 plans deep, the plan itself included, and 2 are allowed
      And nothing has changed
