Feature: Short forms of commands
  The commands of `agents plan` that people use most work without `plan` and without naming a plan.
  They then act on the newest plan of the current project, and say which one that is.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two
    And another project has a newer plan

  Scenario Outline: `agents <short>` is about the newest plan of the project
    When the user runs "agents <short> --format json" in .
    Then the exit code is <code>
    And the document is that of "agents plan <full>" for the plan of the project

    Examples:
      | short            | full                      | code |
      | status           | status PLAN               | 0    |
      | log              | log PLAN                  | 0    |
      | diff             | diff PLAN                 | 0    |
      | diff @first @-2  | diff PLAN @first @-2      | 0    |
      | checkpoints      | checkpoint list PLAN      | 0    |
      | rollback         | rollback PLAN             | 0    |
      | resume --dry-run | resume PLAN --dry-run     | 0    |
      | apply --dry-run  | apply PLAN --dry-run      | 0    |
      | undo --dry-run   | undo PLAN --dry-run       | 0    |

  Scenario: It says which plan it was
    When the user runs "agents status" in .
    Then the error output names the plan of the project

  Scenario: A plan can be named too
    When the user asks for the status of the other project's plan
    Then the plan that is shown is that of the other project

  Scenario Outline: A rollback to <checkpoint>, its undo and its redo
    When the user rolls back to <checkpoint>, undoes and redoes it with the short forms
    Then the sandbox of the project's plan has a.txt and not b.txt

    Examples:
      | checkpoint   |
      | "after one"  |
      | "@-4"        |

  Scenario: An id that fits a plan and a checkpoint
    When the user runs "agents rollback 0 --dry-run" in .
    Then the exit code is 2
    And the error output says "matches both a plan and a checkpoint of the newest plan"

  Scenario: A label that two checkpoints have
    Given two checkpoints with the label "mine"
    When the user runs "agents rollback mine --dry-run" in .
    Then the exit code is 2
    And the error output says "`mine` matches 2 checkpoints"

  Scenario Outline: What cannot be named: <command>
    When the user runs "<command>" in <directory>
    Then the exit code is <code>
    And the error output says "<says>"

    Examples:
      | command                 | directory | code | says                             |
      | agents rollback nowhere | .         | 5    | There is no checkpoint `nowhere` |
      | agents status           | ..        | 5    | There is no plan `@latest`       |
      | agents undo one two     | .         | 2    | Unexpected argument `two`        |
