Feature: Validations in plan files
  A plan may say how its result is judged before it is applied.

  Rule: a validation is a command with a name

    Scenario: Validations run in the order of the file, and are required unless they say otherwise
      Given a plan file
        """
        name: local/judged
        arguments: {module: {default: tests}}
        validations:
          - {name: tests, run: "python -m unittest {{ module }}"}
          - {name: spelling, run: codespell, mode: informational, timeout: 5}
        steps:
          - {tool: shell, with: {command: "true"}}
        """
      When the plan file is read
      Then the plan's validations are
        | name     | run                           | mode          | timeout | takes  |
        | tests    | python -m unittest {{ module }} | required      | 600     | module |
        | spelling | codespell                     | informational | 5       |        |

  Rule: what is wrong is named with its line

    Scenario Outline: Something in a validation is wrong
      Given a plan file with the validation `<validation>`
      When the plan file is read
      Then the file is refused on line 5 because <problem>

      Examples:
        | validation                            | problem                                         |
        | {run: x}                              | validation 1 needs `name`                       |
        | {name: x}                             | validation 1 needs `run`                        |
        | {name: "a b", run: x}                 | `a b` is not a valid name for a validation      |
        | {name: " ", run: x}                   | `name` is empty                                 |
        | {name: x, run: " "}                   | `run` is empty                                  |
        | {name: x, run: x, mode: optional}     | `mode` cannot be `optional`                     |
        | {name: x, run: x, timeout: 0}         | `timeout` must be at least 1                    |
        | {name: x, run: x, require: true}      | validation 1 has no key `require`               |
        | {name: x, run: "x {{ who }}"}         | the plan has no argument `who`                  |
        | {name: x, run: "x {{ a.b }}"}         | `a.b` is not a valid input of a validation      |
        | {name: x, run: "x '{{ who }}'"}       | a placeholder of `run` is inside quotes         |
        | just words                            | validation 1 must be a mapping of keys and values |

    Scenario: A name is used once
      Given a plan file with the validation `{name: x, run: x}, {name: x, run: y}`
      When the plan file is read
      Then the file is refused on line 5 because an earlier validation is already called `x`

    Scenario: A list that is there is not empty
      Given a plan file with the line `validations: []`
      When the plan file is read
      Then the file is refused on line 4 because `validations` is empty
