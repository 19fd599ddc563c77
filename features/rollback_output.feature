@golden
Feature: What going back looks like
  The whole screen of each command is compared with a file that somebody has read. Ids are replaced by
  what they are the ids of; every other number is what the command really did.

  Background:
    Given the plan
      """
      name: local/greetings
      description: Finds a place for greetings
      tools:
        announce: {run: "true", writes: true, side_effects: [irreversible]}
      steps:
        - {name: begin, tool: write-file, with: {path: a.txt, content: "by begin\n"}}
        - name: where greetings live
          decision:
            question: Where do greetings live?
            chosen: file
            rationale: no server needed
            options:
              file:
                steps:
                  - {name: write the store, tool: write-file, with: {path: src/store.py, content: "file\n"}}
              database:
                steps:
                  - {name: write the table, tool: write-file, with: {path: store.sql, content: "table\n"}}
        - {name: tidy up, tool: shell, with: {command: "rm run.sh; echo ruined > README.md; mkdir -p left/over"}}
        - {name: tell everybody, tool: announce}
      """
    And the plan has succeeded
    And the user has changed the sandbox by `mkfifo pipe`

  Rule: a rollback shows what it did, in every format

    Scenario Outline: A rollback in the format <format>
      When the user reads what "agents plan rollback PLAN «after begin» --yes" shows as <format>
      Then the whole screen is that of rollback.<format>

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |
        | json   |
        | yaml   |

    Scenario Outline: Its rehearsal in the format <format>
      When the user reads what "agents plan rollback PLAN «after begin» --dry-run" shows as <format>
      Then the whole screen is that of rollback-dry-run.<format>

      Examples:
        | format |
        | rich   |
        | plain  |
        | json   |

    Scenario Outline: A dry run of a part names the command that does it: <part>
      When the user reads what "agents plan rollback PLAN <arguments> --dry-run" shows as plain
      Then the whole screen is that of rollback-<part>-dry-run.plain

      Examples:
        | part  | arguments                     |
        | paths | «after begin» --path run.sh --path 'a b.txt' |
        | step  | --only-step 1                 |

    Scenario: Where there is nothing to do
      Given the plan has been rolled back to "after begin"
      When the user reads what "agents plan rollback PLAN «after begin» --yes" shows as rich
      Then the whole screen is that of rollback-again.rich

  Rule: an undo and a redo are called what they are

    Scenario Outline: An undo in the format <format>
      Given the plan has been rolled back to "after begin"
      When the user reads what "agents plan undo PLAN --yes" shows as <format>
      Then the whole screen is that of undo.<format>

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |
        | json   |
        | yaml   |

    Scenario: Its rehearsal
      Given the plan has been rolled back to "after begin"
      When the user reads what "agents plan undo PLAN --dry-run" shows as rich
      Then the whole screen is that of undo-dry-run.rich

    Scenario: A redo
      Given the plan has been rolled back to "after begin"
      And the last operation has been undone
      When the user reads what "agents plan redo PLAN --yes" shows as rich
      Then the whole screen is that of redo.rich

  Rule: a correction says what fell and what stays

    Scenario Outline: A revert in the format <format>
      When the user reads what "agents plan correct DECISION --mode revert -g 'it will grow' --choose database --yes" shows as <format>
      Then the whole screen is that of correct.<format>

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |
        | json   |
        | yaml   |

    Scenario Outline: Its rehearsal in the format <format>
      When the user reads what "agents plan correct DECISION --mode revert -g 'it will grow' --choose database --dry-run" shows as <format>
      Then the whole screen is that of correct-dry-run.<format>

      Examples:
        | format |
        | rich   |
        | json   |

    Scenario: The rehearsal of more work beside it
      When the user reads what "agents plan correct DECISION --mode append -g 'write it down' --dry-run" shows as rich
      Then the whole screen is that of correct-append-dry-run.rich

    Scenario: More work beside it
      When the user reads what "agents plan correct DECISION --mode append -g 'write it down' --yes" shows as rich
      Then the whole screen is that of correct-append.rich

    Scenario: Undoing it
      Given the decision has been corrected to choose database
      When the user reads what "agents plan undo PLAN --yes" shows as rich
      Then the whole screen is that of undo-correction.rich

  Rule: the question tells what the answer means

    Scenario Outline: Asked about a <what>
      Given the user sits before a terminal
      When the user answers "n" to what "<command>" shows as plain
      Then the whole screen is that of question-<what>

      Examples:
        | what       | command                                                                       |
        | rollback   | agents plan rollback PLAN «after begin»                                       |
        | correction | agents plan correct DECISION --mode revert -g 'it will grow' --choose database |

    Scenario: Asked about an undo
      Given the plan has been rolled back to "after begin"
      And the user sits before a terminal
      When the user answers "n" to what "agents plan undo PLAN" shows as plain
      Then the whole screen is that of question-undo
