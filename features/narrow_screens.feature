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
      | screen           | columns | command                                   |
      | plan-list        | 80      | plan list                                 |
      | plan-list        | 120     | plan list                                 |
      | status           | 80      | plan status PLAN                          |
      | status           | 120     | plan status PLAN                          |
      | checkpoint-list  | 80      | plan checkpoint list PLAN                 |
      | checkpoint-list  | 120     | plan checkpoint list PLAN                 |
      | log              | 80      | plan log PLAN --type checkpoint           |
      | log              | 120     | plan log PLAN --type checkpoint           |
      | diff             | 80      | plan diff PLAN @first «after store»       |
      | diff             | 120     | plan diff PLAN @first «after store»       |
      | errors           | 80      | plan errors PLAN                          |
      | errors           | 120     | plan errors PLAN                          |
      | output           | 80      | plan output PLAN                          |
      | output           | 120     | plan output PLAN                          |
      | tree             | 80      | plan tree PLAN                            |
      | tree             | 120     | plan tree PLAN                            |
      | many-files       | 80      | plan rollback PLAN @first --yes           |
      | many-files       | 120     | plan rollback PLAN @first --yes           |
      | rollback-preview | 80      | plan rollback PLAN @first --dry-run       |
      | rollback-preview | 120     | plan rollback PLAN @first --dry-run       |
      | gc               | 80      | gc --dry-run                              |
      | gc               | 120     | gc --dry-run                              |
      | all-files        | 80      | plan rollback PLAN @first --dry-run --all |

  Scenario Outline: The checkpoint list as <format>
    When the user reads what "agents plan checkpoint list PLAN" shows as <format> on 80 columns
    Then the whole screen is that of checkpoint-list-80.<format>

    Examples:
      | format |
      | color  |
      | table  |
