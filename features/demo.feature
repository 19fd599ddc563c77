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
        | rich   | 6. What is true now     |
        | color  | 6. What is true now     |
        | table  | 6. What is true now     |
        | plain  | byte for byte as it was |
        | json   | "verified": true        |
        | yaml   | verified: true          |

    Scenario: Programs read that the rollback was verified
      When the user runs "agents demo --format json"
      Then the JSON document has
        | field                  | value                                                                                                                                                                     |
        | status                 | "ok"                                                                                                                                                                      |
        | data.verified          | true                                                                                                                                                                      |
        | data.project_untouched | true                                                                                                                                                                      |
        | data.directory         | null                                                                                                                                                                      |
        | data.changes_reverted  | [{"file": "README.md", "action": "restored"}, {"file": "src/greeting.py", "action": "restored"}, {"file": "src/main.py", "action": "restored"}] |
      And it made 8 checkpoints and went back to the sixth

    Scenario: People are told the story as it goes
      When the user runs "agents demo"
      Then the error output is
        """
        An agent's plan runs in a private copy of a small git project.
        Preparing the sandbox …
        Step 1 of 3: write the greeting (write-file)
        Step 2 of 3: write a start script (shell)
        Step 3 of 3: tidy up (shell)
        The last step, `tidy up`, deleted the sources. Going back to before it.
        """
      And the output says "2. Checkpoints were made by themselves"

  Rule: nothing of the user's gets in its way

    Scenario: The user's own settings do not matter
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And the user's file says "sandbox.checkpoint.max-checkpoints-per-plan = 1"
      When the user runs "agents demo --format json"
      Then the exit code is 0
      And it made 8 checkpoints and went back to the sixth

    Scenario: It can be kept to look around in
      When the user runs "agents demo --keep --format json"
      Then the exit code is 0
      And the kept directory has the project, the plan and its checkpoints

    Scenario: People are told where it was kept
      When the user runs "agents demo --keep"
      Then the output says "kept in"
      And the output says "agents plan list"
