Feature: The demonstration
  `agents demo` shows the main job on a scratch repository, and leaves nothing of it behind.

  Background:
    Given an empty directory for temporary files

  Rule: a person understands what happened, in every format

    Scenario Outline: In the format <format>
      When the user runs "agents demo --format <format>"
      Then the exit code is 0
      And the output says "<story>"
      And the output says "src/greeting.py"
      And the directory for temporary files is empty
      And the user has no plans and no home directory

      Examples:
        | format | story                   |
        | rich   | 6. agents plan apply PLAN |
        | color  | 6. agents plan apply PLAN |
        | table  | 6. agents plan apply PLAN |
        | plain  | 6. agents plan apply PLAN |
        | json   | "verified": true        |
        | yaml   | verified: true          |

    Scenario: Programs read that everything was verified
      When the user runs "agents demo --format json"
      Then the JSON document has
        | field                  | value                                                          |
        | status                 | "ok"                                                           |
        | data.verified          | true                                                           |
        | data.undone.as_before  | true                                                           |
        | data.corrected.was     | "everything"                                                   |
        | data.corrected.now     | "leftovers"                                                    |
        | data.result            | ["README.md", "bin/greet", "src/greeting.py", "src/main.py"]   |
        | data.project_untouched | true                                                           |
        | data.applied.branch    | "main"                                                         |
        | data.applied.files     | ["bin/greet", "draft.tmp", "src/greeting.py"]                  |
        | data.directory         | null                                                           |
      And it made 10 checkpoints and went back to the sixth
      And it restored draft.tmp, src/greeting.py, src/main.py

    Scenario: People read which command does each of these things, and what to do next
      When the user runs "agents demo"
      Then the output has, in this order
        | 1. agents plan run plan.yaml                           |
        | the sources are gone                                   |
        | 2. agents plan checkpoint list PLAN                    |
        | 3. agents plan rollback PLAN CHECKPOINT                |
        | 4. agents plan undo PLAN                               |
        | 5. agents plan correct DECISION --mode revert --choose |
        | agents plan execute PLAN                               |
        | 6. agents plan apply PLAN                              |
        | Now try it in a project of your own                    |
        | agents run -- COMMAND                                  |
        | agents plan run plan.yaml                              |
        | Verified: the mistake is gone                          |

    Scenario: Each act is shown once
      When the user runs "agents demo"
      Then the error output is empty

    Scenario: A terminal shows how far it is, and the actions in color
      When the user types "agents demo" at a terminal
      Then a bar of "Running the demo" reached 6 of 6
      And what was restored is green, and what was removed is red
      And no line of the screen has more than 80 columns

  Rule: nothing of the user's gets in its way

    Scenario: The user's own settings do not matter
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And the user's file says "sandbox.checkpoint.max-checkpoints-per-plan = 1"
      When the user runs "agents demo --format json"
      Then the exit code is 0
      And it made 10 checkpoints and went back to the sixth

    Scenario: It can be kept to look around in
      When the user runs "agents demo --keep --format json"
      Then the exit code is 0
      And the kept directory has the project, the plan and its checkpoints

    Scenario: People read where the directory is
      When the user runs "agents demo --keep"
      Then the output says "kept in"
      And the output says "agents plan list"
