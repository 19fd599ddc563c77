Feature: Plan files
  A plan file says what a plan does. One that loads means what it says.

  Rule: a plan says what it works on, how it fails, and its steps in order

    Scenario: A plan with everything this version knows
      Given a plan file
        """
        name: local/add-greeting
        description: Adds a greeting
        arguments: {who: {type: string, default: world, description: whom to greet}}
        resources:
          project: {type: git-checkout, path: .}
          website: {type: git-checkout, path: ../website}
        policy:
          on_failure: rollback-plan
          require_checkpoints: false
          max_retries_per_step: 0
        steps:
          - name: write the module
            tool: write-file
            with: {path: hello.py, content: "print('hello {{ who }}')\n", mode: "0755"}
          - name: look at the site
            tool: shell
            resource: website
            save_as: listing
            with: {command: "ls {{ resources.project.path }}", timeout: 5}
          - tool: write-file
            with: {path: listing.txt, content: "{{ outputs.listing }}"}
        """
      When the plan file is read
      Then the plan is called "local/add-greeting"
      And the plan's resources are
        | name    | type         | path       |
        | project | git-checkout | .          |
        | website | git-checkout | ../website |
      And the plan's policy is
        | on failure    | checkpoints required |
        | rollback-plan | false                |
      And the plan's steps are
        | name             | tool       | resource | saved as |
        | write the module | write-file |          |          |
        | look at the site | shell      | website  | listing  |
        | write-file       | write-file |          |          |

    Scenario: What is left out has a default
      Given a plan file
        """
        name: example
        steps:
          - {tool: shell, with: {command: "true"}}
        """
      When the plan file is read
      Then the plan's resources are
        | name    | type         | path |
        | project | git-checkout | .    |
      And the plan's policy is
        | on failure    | checkpoints required |
        | rollback-step | true                 |

    Scenario: A part used twice is written once
      Given a plan file
        """
        name: local/twice
        steps:
          - {tool: write-file, with: {path: a.txt, content: &text hello}}
          - {tool: write-file, with: {path: b.txt, content: *text}}
        """
      When the plan file is read
      Then the input of step 2 is
        | input   | value |
        | path    | b.txt |
        | content | hello |

    Scenario: Some editors begin a file with a byte order mark
      Given a file with a byte order mark where the plan file should be
      When the plan file is read
      Then the plan is called "local/example"

  Rule: a plan may define tools of its own

    Scenario: A tool is a command, and writes unless it says otherwise
      Given a plan file
        """
        name: local/tools
        tools:
          format-code: {run: "ruff format {{ path }} --config {{ config }}", timeout: 60}
          count-lines: {run: "wc -l {{ path }}", read_only: true, idempotent: true}
          braces: {run: "echo \"{{ '{{' }}\" {{ path }}", write_scope: file, side_effects: []}
        steps:
          - {tool: count-lines, with: {path: README.md}}
        """
      When the plan file is read
      Then the plan's own tools are
        | name        | inputs      | writes | checkpoints |
        | format-code | path config | yes    | yes         |
        | count-lines | path        | no     | no          |
        | braces      | path        | yes    | yes         |

  Rule: a plan takes arguments

    Background:
      Given a plan file
        """
        name: local/arguments
        arguments:
          who: {description: whom to greet}
          times: {type: integer, default: 3}
          loud: {type: boolean, default: true}
        steps:
          - {tool: shell, with: {command: "greet {{ who }} {{ times }} {{ loud }}"}}
        """

    Scenario: What the user gives goes before the default
      When the user gives the arguments
        | name  | value |
        | who   | you   |
        | times | -5    |
      Then the plan's arguments have the values
        | name  | value |
        | who   | you   |
        | times | -5    |
        | loud  | true  |

    Scenario: An argument without a default must be given
      When the user gives no arguments
      Then the arguments are refused because The plan needs a value for its argument `who` (whom to greet)
      And the hint says "Add `--arg who=VALUE`"

    Scenario: An argument that the plan does not have is refused
      When the user gives the arguments
        | name | value |
        | whom | you   |
      Then the arguments are refused because The plan `local/arguments` has no argument `whom`
      And the hint says "Did you mean `who`?"

    Scenario Outline: A value must be of its argument's type
      When the user gives the arguments
        | name   | value   |
        | who    | you     |
        | <name> | <value> |
      Then the arguments are refused because <problem>

      Examples:
        | name  | value | problem                                                   |
        | times | many  | The argument `times` must be of type integer, not `many` |
        | loud  | yes   | The argument `loud` must be of type boolean, not `yes`   |

  Rule: arguments need no description, and a plan no arguments

    Scenario: An argument of which nothing is said must be given
      Given a plan file
        """
        name: local/bare
        arguments: {who: {}}
        steps:
          - {tool: shell, with: {command: "echo {{ who }}"}}
        """
      When the user gives no arguments
      Then the arguments are refused because The plan needs a value for its argument `who`

    Scenario: A plan without arguments has none to give
      Given a plan file with the line `description: no arguments`
      When the user gives the arguments
        | name | value |
        | who  | you   |
      Then the hint says "There are none; define one first"
