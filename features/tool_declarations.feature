Feature: What tools declare
  A tool says what it may do before it does anything; checkpoints and guards follow from that.

  Rule: a tool of the plan may declare everything a built-in one can

    Scenario: Effects that no rollback undoes are declared
      Given a plan file with the tool `{run: "git push", side_effects: [irreversible, network], unsafe: true}`
      When the plan file is read
      Then the tool of the plan declares
        | declaration      | value                       |
        | side_effects     | ["irreversible", "network"] |
        | unsafe           | true                        |
        | checkpoint_scope | "sandbox"                   |
        | checkpointable   | true                        |

    Scenario Outline: A plan whose policy <policy> unsafe tools
      Given a plan file
        """
        name: local/push
        policy: {allow_unsafe_tools: <allowed>}
        tools: {push: {run: git push, unsafe: true}}
        steps:
          - {tool: push}
        """
      When the plan file is read
      Then <outcome>

      Examples:
        | policy    | allowed | outcome                                                         |
        | forbids   | false   | the file is refused on line 5 because `push` is an unsafe tool |
        | allows    | true    | the plan uses the tool push                                     |

    Scenario: A tool for a database
      Given a plan file
        """
        name: local/migrate
        resources:
          project: {type: git-checkout, path: .}
          data: {type: sqlite, path: app.db}
        tools:
          my-tool: {run: "sqlite3 $CLEVERAGENTS_RESOURCE_DATA .schema", checkpoint_scope: transaction}
        steps:
          - {tool: my-tool}
        """
      When the plan file is read
      Then step 1 runs on the resource data

    Scenario Outline: A tool for a database has no database
      Given a plan file
        """
        name: local/migrate
        resources: {project: {type: git-checkout, path: .}<more>}
        tools: {my-tool: {run: x, checkpoint_scope: transaction}}
        steps:
          - {tool: my-tool<named>}
        """
      When the plan file is read
      Then the file is refused on line 5 because `my-tool` runs on a `sqlite` resource<why>

      Examples:
        | more                                                            | named               | why                     |
        |                                                                 |                     |                         |
        | , a: {type: sqlite, path: a.db}, b: {type: sqlite, path: b.db}  |                     |                         |
        | , a: {type: sqlite, path: a.db}                                 | , resource: project | , and `project` is not one |

  Rule: inputs have types

    Scenario Outline: A value of type <type> is accepted
      When a tool with an input of type <type> is given `<value>`
      Then nothing is wrong with that

      Examples:
        | type    | value          |
        | list    | []             |
        | list    | ["one", "two"] |
        | number  | 0.5            |
        | number  | 1              |
        | integer | 1              |

    Scenario Outline: A value is refused
      When a tool with an input of type <type> is given `<value>`
      Then the input is wrong: the value <reason>

      Examples:
        | type    | value       | reason                  |
        | list    | "one"       | must be a list of texts |
        | list    | ["one", 2]  | must be a list of texts |
        | list    | ["x y", ""] | must not be ``          |
        | number  | "0.5"       | must be a number        |
        | number  | true        | must be a number        |
        | number  | NaN         | must be a number        |
        | number  | 1.5         | must be at most 1       |
        | number  | -0.1        | must be at least 0      |
