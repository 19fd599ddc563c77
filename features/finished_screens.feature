@golden
Feature: Screens of a plan that runs and is applied, on 80 and on 120 columns
  A list has one line for each thing. Ids and commands are never cut, and text wraps at words.

  Background:
    Given the plan
      """
      name: local/greetings-for-everybody
      steps:
        - {name: write a greeting for everybody who reads this, tool: write-file, with: {path: a.txt, content: "hello\n"}}
        - {name: make many files, tool: shell, with: {command: "echo making; echo careful >&2; mkdir many; for n in $(seq 30); do echo $n > many/$n; done"}}
      """

  Scenario Outline: A run on <columns> columns
    When the user reads what "agents plan run FILE" shows as rich on <columns> columns
    Then the whole screen is that of run.<columns>

    Examples:
      | columns |
      | 80      |
      | 120     |

  Scenario Outline: <screen> on <columns> columns
    Given the plan has succeeded
    When the user reads what "agents <command>" shows as rich on <columns> columns
    Then the whole screen is that of <screen>.<columns>

    Examples:
      | screen        | columns | command                   |
      | apply-preview | 80      | plan apply PLAN --dry-run |
      | apply-preview | 120     | plan apply PLAN --dry-run |
      | apply         | 80      | plan apply PLAN --yes     |
      | apply         | 120     | plan apply PLAN --yes     |

  Scenario Outline: The question before an apply on <columns> columns
    Given the plan has succeeded
    And the user sits before a terminal
    When the user answers "n" to what "agents plan apply PLAN" shows on <columns> columns
    Then the whole screen is that of question-apply.<columns>

    Examples:
      | columns |
      | 80      |
      | 120     |
