Feature: What a plan file may say
  Every other key, value and name is an error with its line and the nearest valid one.

  Rule: keys, types and names are checked

    Scenario Outline: Something at the top of the plan is wrong
      Given a plan file with the line `<line>`
      When the plan file is read
      Then the file is refused on line 4 because <problem>

      Examples:
        | line                                                 | problem                                                    |
        | polcy: {}                                            | a plan has no key `polcy`                                  |
        | description: 12                                      | `description` must be text                                 |
        | arguments: [who]                                     | `arguments` must be a mapping of keys and values           |
        | arguments: {who: text}                               | the argument `who` must be a mapping of keys and values    |
        | arguments: {"w ho": {}}                              | `w ho` is not a valid name for an argument                 |
        | arguments: {who: {typ: string}}                      | the argument `who` has no key `typ`                        |
        | arguments: {who: {type: date}}                       | `type` cannot be `date`                                    |
        | arguments: {who: {type: list}}                       | `type` cannot be `list`                                    |
        | arguments: {who: {type: number}}                     | `type` cannot be `number`                                  |
        | arguments: {who: {type: integer, default: x}}        | the default of `who` must be of type integer               |
        | arguments: {who: {default: [x]}}                     | `default` must be text                                     |
        | resources: {project: {type: git-checkout}}           | the resource `project` needs `path`                        |
        | resources: {project: {type: svn, path: .}}           | `type` cannot be `svn`                                     |
        | resources: {project: {type: git-checkout, path: ""}} | `path` is empty                                            |
        | resources: {x: {type: git-checkout, path: "{{ y }}"}}| `path` cannot contain `{{ … }}`                             |
        | resources: {"a b": {type: git-checkout, path: .}}    | `a b` is not a valid name for a resource                   |
        | tools: {my-tool: run}                                | the tool `my-tool` must be a mapping of keys and values    |
        | policy: {on_failure: explode}                        | `on_failure` cannot be `explode`                           |
        | policy: {require_checkpoints: maybe}                 | `require_checkpoints` must be `true` or `false`            |
        | policy: {max_retries_per_step: true}                 | `max_retries_per_step` must be a whole number              |
        | policy: {max_retries_per_step: -1}                   | `max_retries_per_step` must be at least 0                  |

    Scenario Outline: Something in a step is wrong
      Given a plan file with the step `<step>`
      When the plan file is read
      Then the file is refused on line 3 because <problem>

      Examples:
        | step                                                            | problem                                          |
        | shell                                                           | step 1 must be a mapping of keys and values      |
        | {name: idle}                                                    | step 1 needs `tool`                              |
        | {tool: shel, with: {command: x}}                                | there is no tool `shel`                          |
        | {tool: shell}                                                   | `shell` needs the input `command`                |
        | {tool: shell, with: }                                           | `with` must be a mapping of keys and values      |
        | {tool: shell, with: {comand: x}}                                | `shell` has no input `comand`                    |
        | {tool: shell, with: {command: 12}}                              | `command` must be text                           |
        | {tool: shell, with: {command: ""}}                              | `command` must not be ``                         |
        | {tool: shell, with: {command: x, timeout: soon}}                | `timeout` must be a whole number                 |
        | {tool: shell, with: {command: x, timeout: 0}}                   | `timeout` must be at least 1                     |
        | {tool: shell, with: {command: x, timeout: 90000}}               | `timeout` must be at most 86400                  |
        | {tool: delete-file, with: {path: x, recursive: 1}}              | `recursive` must be `true` or `false`            |
        | {tool: write-file, with: {path: x, content: y, mode: 0755}}     | `mode` must be text                              |
        | {tool: write-file, with: {path: x, content: y, mode: "rwx"}}    | `mode` must not be `rwx`                         |
        | {tool: shell, with: {command: x}, resource: data}               | the plan has no resource `data`                  |
        | {tool: shell, with: {command: x}, save_as: a-b}                 | `a-b` is not a valid `save_as`                   |
        | {tool: shell, with: {command: x}, name: "{{ who }}"}            | `name` cannot contain `{{ … }}`                   |
        | {tool: shell, with: {command: x}, wiht: {}}                     | step 1 has no key `wiht`                         |
        | {tool: shell, input: {command: x}}                              | step 1 has no key `input`                        |
        | {tool: spawn-subplan}                                           | `subplans` needs `plans`                         |
        | {decision: why}                                                 | `decision` must be a mapping of keys and values  |
        | {decision: {question: q, chosen: a, options: {a: {}}}, tool: x} | step 1 has no key `tool`                         |
        | {decision: {question: q, chosen: a}}                            | `decision` needs `options`                       |
        | {decision: {question: q, chosen: a, options: {}}}               | a decision needs an option                       |
        | {decision: {question: q, chosen: b, options: {a: {}}}}          | there is no option `b`                           |
        | {decision: {question: q, chosen: a, options: {a: {step: []}}}}  | the option `a` has no key `step`                 |
        | {decision: {question: q, chosen: a, options: {a: }}}            | the option `a` must be a mapping of keys and values |
        | {decision: {question: q, chosen: a, options: {"a b": {}}}}      | there is no option `a`                           |
        | {decision: {question: q, chosen: a, confidence: high, options: {a: {}}}} | `confidence` must be a number           |
        | {decision: {question: q, chosen: a, confidence: 2, options: {a: {}}}} | `confidence` must be at most 1             |
        | {decision: {question: q, chosen: a, influenced_by: [p], options: {a: {}}}} | there is no earlier decision `p`      |
        | {decision: {question: q, chosen: a, type: user_intervention, options: {a: {}}}} | a plan cannot record a decision of type `user_intervention` |

    Scenario Outline: Something in a tool of the plan is wrong
      Given a plan file with the tool `<tool>`
      When the plan file is read
      Then the file is refused on line 5 because <problem>

      Examples:
        | tool                                           | problem                                                  |
        | {writes: true}                                 | the tool `my-tool` needs `run`                           |
        | {run: " "}                                     | `run` is empty                                           |
        | {run: "x {{ a.b }}"}                           | `a.b` is not a valid input of a tool                     |
        | {run: "x {{ a b }}"}                           | `{{ a b }}` is not a name between braces                 |
        | {run: "x '{{ a }}'"}                           | a placeholder of `run` is inside quotes                  |
        | {run: "x \"{{ a }}\""}                         | a placeholder of `run` is inside quotes                  |
        | {run: x, read_only: true, writes: true}        | a tool cannot be both `read_only` and `writes`           |
        | {run: x, timeout: 0}                           | `timeout` must be at least 1                             |
        | {run: x, write_scop: y}                        | the tool `my-tool` has no key `write_scop`               |
        | {run: x, side_effects: irreversible}           | `side_effects` must be a list                            |
        | {run: x, side_effects: [1]}                    | item 1 of `side_effects` must be text                    |
        | {run: x, side_effects: [" "]}                  | a text of `side_effects` is empty                        |
        | {run: x, parameters: {}}                       | the tool `my-tool` has no key `parameters`               |
        | {run: x, unsafe: perhaps}                      | `unsafe` must be `true` or `false`                       |
        | {run: x, checkpoint_scope: world}              | `checkpoint_scope` cannot be `world`                     |

    Scenario Outline: The shape of the plan is wrong
      Given a plan file
        """
        <text>
        """
      When the plan file is read
      Then the file is refused on line 1 because <problem>

      Examples:
        | text                                   | problem                                    |
        | just words                             | a plan must be a mapping of keys and values|
        | {name: local/x}                        | a plan needs `steps`                       |
        | {steps: []}                            | a plan needs `name`                        |
        | {name: local/x, steps: []}             | `steps` is empty                           |
        | {name: local/x, steps: {tool: shell}}  | `steps` must be a list                     |
        | {name: Not A Name, steps: []}          | `Not A Name` is not a valid `name`         |

  Rule: names are unique

    Scenario: Two steps save under the same name
      Given a plan file
        """
        name: local/saves
        steps:
          - {tool: shell, with: {command: x}, save_as: version}
          - {tool: shell, with: {command: y}, save_as: version}
        """
      When the plan file is read
      Then the file is refused on line 4 because an earlier step already saves `version`

    Scenario: Two resources would be one variable
      Given a plan file with the line `resources: {a-b: {type: git-checkout, path: .}, a_b: {type: git-checkout, path: x}}`
      When the plan file is read
      Then the file is refused on line 4 because `a_b` and `a-b` would both use the variable `CLEVERAGENTS_RESOURCE_A_B`

    Scenario Outline: A tool of the plan takes a name it cannot have
      Given a plan file with the line `tools: {<name>: {run: x}}`
      When the plan file is read
      Then the file is refused on line 4 because <problem>

      Examples:
        | name    | problem                              |
        | shell   | `shell` is the name of a built-in tool |
        | sql     | `sql` is the name of a built-in tool |
        | "a b"   | `a b` is not a valid name for a tool |

  Rule: a misspelt name is answered with the nearest

    Scenario Outline: The hint knows what was meant
      Given a plan file with the step `<step>`
      When the plan file is read
      Then the hint says "<hint>"

      Examples:
        | step                                              | hint                                                              |
        | {tol: shell}                                      | Did you mean `tool`?                                              |
        | {tool: write_file}                                | Did you mean `write-file`?                                        |
        | {tool: shell, with: {command: x}, resource: prject} | Did you mean `project`?                                         |
        | {tool: shell, with: {command: "{{ who }}"}}       | Valid names: `resources.project.path`                            |
