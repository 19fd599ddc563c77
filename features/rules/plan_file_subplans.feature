Feature: Subplans in plan files
  A step may have other plans do something, each with steps of its own.

  Rule: a step says which subplans it has, and how they run

    Scenario: What is left out is as documented
      Given a plan file
        """
        name: local/parent
        steps:
          - subplans:
              plans:
                docs:  {description: Writes the docs, steps: [{tool: shell, with: {command: "true"}}]}
                tests: {steps: [{tool: shell, with: {command: "true"}}]}
        """
      When the plan file is read
      Then the step `subplans docs, tests` has the subplans
        | mode       | max_parallel | merge_strategy | fail_fast | timeout_per_subplan_seconds | retry_failed | max_retries | plans      |
        | sequential | 5            | git_three_way  | False     | None                        | True         | 2           | docs tests |

    Scenario: The tool may be named instead
      Given a plan file
        """
        name: local/parent
        steps:
          - name: both
            tool: spawn-subplan
            with:
              mode: parallel
              max_parallel: 50
              merge_strategy: last_wins
              fail_fast: true
              timeout_per_subplan_seconds: 60
              retry_failed: false
              max_retries: 0
              plans: {docs: {resources: [project], steps: [{tool: shell, with: {command: "true"}}]}}
        """
      When the plan file is read
      Then the step `both` has the subplans
        | mode     | max_parallel | merge_strategy | fail_fast | timeout_per_subplan_seconds | retry_failed | max_retries | plans |
        | parallel | 50           | last_wins      | True      | 60                          | False        | 0           | docs  |

    Scenario Outline: Subplans run in waves
      Given a plan file whose subplans run `<mode>` and depend on each other as `<depends>`
      When the plan file is read
      Then the subplans run in the waves `<waves>`

      Examples:
        | mode               | depends             | waves     |
        | sequential         | a, b, c             | a / b / c |
        | parallel           | a, b, c             | a b c     |
        | dependency_ordered | a, b, c             | a b c     |
        | dependency_ordered | a: c, b: a c, c     | c / a / b |
        | dependency_ordered | a, b: a, c: a, d: b c | a / b c / d |

  Rule: what is wrong is named with its line

    Scenario Outline: Something in the subplans is wrong
      Given a plan file with the step `{subplans: {<subplans>}}`
      When the plan file is read
      Then the file is refused on line 3 because <problem>

      Examples:
        | subplans                                                        | problem                                               |
        | mode: parallel                                                  | `subplans` needs `plans`                              |
        | plans: [a]                                                      | `plans` must be a mapping of keys and values          |
        | plans: {}                                                       | `plans` needs at least one subplan                    |
        | plans: {a: {}}                                                  | the subplan `a` needs `steps`                         |
        | plans: {a: {steps: []}}                                         | `steps` is empty                                      |
        | plans: {a: {steps: [{tool: shell}]}}                            | `shell` needs the input `command`                     |
        | plans: {a: {step: x}}                                           | the subplan `a` has no key `step`                     |
        | plans: {"a b": {steps: [{tool: list-files}]}}                   | `a b` is not a valid name for a subplan               |
        | mode: both, plans: {a: {steps: [{tool: list-files}]}}           | `mode` cannot be `both`                               |
        | max_parallel: 51, plans: {a: {steps: [{tool: list-files}]}}     | `max_parallel` must be at most 50                     |
        | merge_strategy: ours, plans: {a: {steps: [{tool: list-files}]}} | `merge_strategy` cannot be `ours`                     |
        | max_retries: -1, plans: {a: {steps: [{tool: list-files}]}}      | `max_retries` must be at least 0                      |
        | timeout_per_subplan_seconds: 0, plans: {a: {steps: [{tool: list-files}]}} | `timeout_per_subplan_seconds` must be at least 1      |
        | retries: 1, plans: {a: {steps: [{tool: list-files}]}}           | `subplans` has no key `retries`                       |
        | plans: {a: {resources: [x], steps: [{tool: list-files}]}}       | the plan has no resource `x`                          |
        | plans: {a: {depends_on: [b], steps: [{tool: list-files}]}}      | `depends_on` has no effect in the mode `sequential`   |
        | mode: dependency_ordered, plans: {a: {depends_on: [b], steps: [{tool: list-files}]}} | there is no subplan `b`          |
        | mode: dependency_ordered, plans: {a: {depends_on: [a], steps: [{tool: list-files}]}} | `a` depends on itself            |

    Scenario: Subplans that wait for each other
      Given a plan file whose subplans run `dependency_ordered` and depend on each other as `a: b, b: a`
      When the plan file is read
      Then the file is refused on line 7 because `a` and `b` depend on each other

    Scenario: A subplan knows what its parent has saved, and not what another saves
      Given a plan file
        """
        name: local/parent
        arguments: {who: {default: you}}
        steps:
          - {tool: shell, with: {command: "echo 1"}, save_as: version}
          - subplans:
              plans:
                docs: {steps: [{tool: shell, with: {command: "echo {{ who }} {{ outputs.version }}"}, save_as: said}]}
                tests: {steps: [{tool: shell, with: {command: "echo {{ outputs.said }}"}}]}
        """
      When the plan file is read
      Then the file is refused on line 8 because `{{ outputs.said }}` is not a known placeholder

    Scenario: A subplan that works on some of the resources cannot name another
      Given a plan file
        """
        name: local/parent
        resources:
          project: {type: git-checkout, path: .}
          data: {type: sqlite, path: app.db}
        steps:
          - subplans:
              plans:
                docs: {resources: [project], steps: [{tool: shell, with: {command: "ls {{ resources.data.path }}"}}]}
        """
      When the plan file is read
      Then the file is refused on line 8 because `{{ resources.data.path }}` is not a known placeholder
