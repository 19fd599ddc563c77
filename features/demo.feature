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
        | rich   | 9. The outcome          |
        | color  | 9. The outcome          |
        | table  | 9. The outcome          |
        | plain  | unchanged, byte for byte|
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
      And it restored README.md, draft.tmp, src/greeting.py, src/main.py

    Scenario: People read which command does each of these things
      When the user runs "agents demo"
      Then the output has, in this order
        | agents plan run plan.yaml                |
        | agents plan checkpoint list PLAN         |
        | agents plan rollback PLAN CHECKPOINT     |
        | agents plan undo PLAN                    |
        | agents plan correct DECISION             |
        | agents plan apply PLAN                   |
        | Now try it in a git repository of your own |

    Scenario: People read each step as it happens
      When the user runs "agents demo"
      Then the error output is
        """
        Running a plan in a private copy of a small git project.
        Preparing the sandbox …
        Step 1 of 4: write the greeting (write-file)
        Step 2 of 4: write a start script (shell)
        Step 3 of 4: tidy up (record-decision)
        Step 4 of 4: clear everything away (shell)
        The plan chose to tidy up everything: the sources are gone. Rolling back to before that.
        Undoing the rollback, to show that it lost nothing.
        Correcting the decision: tidy up only leftovers. The plan continues from there.
        Step 3 of 4: tidy up (record-decision)
        Step 4 of 4: clear the leftovers away (shell)
        Applying the result: only now does the project change.
        Applying …
        """
      And the output has, in this order
        | 1. A plan ran in a sandbox                     |
        | 2. Checkpoints were created automatically      |
        | 3. It chose to tidy up `everything`            |
        | 4. Rolled back to before that                  |
        | 5. Undid the rollback                          |
        | 6. Corrected the decision                      |
        | 7. The sandbox now contains                    |
        | 8. Applied the result to the project           |
        | agents plan run plan.yaml                      |
        | Verified: the mistake is gone                  |

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
