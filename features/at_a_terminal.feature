Feature: A person at a terminal
  Long work shows how far it is, and a question can be left without any harm.

  Rule: work on many files draws a bar

    Background:
      Given the plan
        """
        name: local/many
        steps:
          - {name: many, tool: shell, with: {command: "mkdir many; cd many; seq 1100 | xargs touch"}}
        """
      And the plan has succeeded

    Scenario: A rollback
      When the user types "agents plan rollback PLAN @first --yes" at a terminal
      Then a bar of "Removing files" reached 1100 of 1100
      And the screen says "Rollback complete"

    Scenario: An undo
      Given "agents plan rollback PLAN @first --yes" was run
      When the user types "agents plan undo PLAN --yes" at a terminal
      Then a bar of "Writing files" reached 1100 of 1100
      And the screen says "Undo complete"

    Scenario: An apply
      When the user types "agents plan apply PLAN --yes" at a terminal
      Then a bar of "Moving files" reached 1100 of 1100
      And the screen says "Applied 1100 files"

    Scenario: Where no person looks, no bar is drawn
      When the user runs "agents plan rollback PLAN @first --yes" on the plan
      Then no bar was drawn

  Rule: making a sandbox of many files draws a bar

    Scenario: A copy of a directory
      Given the project has a directory `../assets` of 1100 files
      And the plan
        """
        name: local/assets
        resources:
          assets: {type: fs-directory, path: ../assets}
        steps:
          - {name: one, tool: write-file, with: {path: one.txt, content: "1\n"}}
        """
      When the user types "agents plan run FILE" at a terminal
      Then a bar of "Copying files" reached 1100 of 1100
      And the screen says "Plan complete"

  Rule: Ctrl-C at a question says that nothing was changed

    Scenario Outline: <command>
      Given the plan
        """
        name: local/one
        steps:
          - {name: one, tool: write-file, with: {path: one.txt, content: "1\n"}}
        """
      And the plan has succeeded
      When the user types "agents plan <command>" at a terminal, and Ctrl-C when asked
      Then the exit code is 130
      And the screen says "Interrupted; nothing was changed"

      Examples:
        | command                       |
        | rollback PLAN @first          |
        | apply PLAN                    |
        | cancel PLAN --discard         |
        | checkpoint delete PLAN @first |

  Rule: a table that is too wide for the screen breaks no word

    Scenario Outline: <command>
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user types "agents <command>" at a terminal
      Then the exit code is 0
      And the screen says "<text>"
      And no line of the screen has more than 80 columns

      Examples:
        | command              | text                                |
        | doctor --quick       | interrupted-operations              |
        | config list          | before_tool_execute,                |
        | gc --dry-run         | Reclaimable                         |
        | tool list            | spawn-subplan                       |
