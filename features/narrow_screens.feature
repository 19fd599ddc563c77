@golden
Feature: Screens of 80 and of 120 columns
  A list has one line for each thing. Ids and commands are never cut, and an ellipsis marks what is.
  Text wraps at words.

  Background:
    Given the plan
      """
      name: local/greetings-for-everybody
      steps:
        - {name: write a greeting for everybody who reads this, tool: write-file, with: {path: a.txt, content: "hello"}}
        - name: where greetings live
          decision:
            question: Where do greetings live?
            chosen: file
            rationale: no server needed
            options:
              file: {steps: [{name: store, tool: write-file, with: {path: store.py, content: "x"}}]}
        - {name: make many files, tool: shell, with: {command: "mkdir many; for n in $(seq 30); do echo $n > many/$n; done"}}
        - {name: fail, tool: shell, with: {command: "echo the first line; echo the second line is on stderr and long enough to be wrapped on a narrow screen >&2; exit 3"}}
      """
    And the plan has failed

  Scenario Outline: <screen> on <columns> columns
    When the user reads what "agents <command>" shows as rich on <columns> columns
    Then the whole screen is that of <screen>.<columns>

    Examples:
      | screen          | columns | command                            |
      | plan-list       | 80      | plan list                          |
      | plan-list       | 120     | plan list                          |
      | checkpoint-list | 80      | plan checkpoint list PLAN          |
      | checkpoint-list | 120     | plan checkpoint list PLAN          |
      | log             | 80      | plan log PLAN --type checkpoint    |
      | log             | 120     | plan log PLAN --type checkpoint    |
      | errors          | 80      | plan errors PLAN                   |
      | errors          | 120     | plan errors PLAN                   |
      | many-files      | 80      | plan rollback PLAN @first --yes    |
      | all-files       | 80      | plan rollback PLAN @first --dry-run --all |

  Scenario Outline: The checkpoint list as <format>
    When the user reads what "agents plan checkpoint list PLAN" shows as <format> on 80 columns
    Then the whole screen is that of checkpoint-list-80.<format>

    Examples:
      | format |
      | color  |
      | table  |
