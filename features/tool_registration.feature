Feature: Tools that a program registers, and the list of all
  `agents tool list` names every tool there is, and `agents tool show` what one declares.

  Rule: registered tools are like others

    Scenario: A function of a module can be a tool
      Given a program has registered the tool greet
      When the tool greet of the package runs with `{}`
      Then it is answered by another process

    Scenario: A function that no other process can import cannot be a tool
      When a program registers a function that it made itself as the tool greet
      Then the registration is refused because `greet` cannot be registered: the process that runs it cannot import its function

    Scenario: A plan may use it
      Given a program has registered the tool greet
      When a plan is read that uses greet
      Then the plan is accepted

    Scenario: Built-in tools are among them
      Given a program has registered the tool greet
      When the tool list-files of the package runs with `{}`
      Then the output is "[nothing]\n"

    Scenario: The program's own tests call it as the function it is
      When a program calls its tool greet
      Then it is answered by this process

    Scenario: A misspelt name is answered with the nearest
      Given a program has registered the tool greet
      When a plan is read that uses great
      Then the plan is refused with the hint "Did you mean `greet`?"

    Scenario Outline: A name that it cannot have
      When a program registers the tool <name>
      Then the registration is refused because <reason>

      Examples:
        | name            | reason                                          |
        | shell           | `shell` is the name of a built-in tool          |
        | record-decision | `record-decision` is the name of a built-in tool |
        | two words       | `two words` cannot be registered as a tool      |

  Rule: every tool can be shown

    Scenario Outline: The list in any format
      When the user runs "agents tool list --format <format>"
      Then the exit code is 0
      And the output says "apply-patch"

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |
        | json   |
        | yaml   |

    Scenario: What a tool declares
      When the user runs "agents tool show search-files --format json"
      Then the JSON document has
        | field                       | value      |
        | data.name                   | "search-files" |
        | data.writes                 | false      |
        | data.read_only              | true       |
        | data.write_scope            | null       |
        | data.checkpointable         | false      |
        | data.checkpoint_scope       | "sandbox"  |
        | data.side_effects           | []         |
        | data.idempotent             | true       |
        | data.unsafe                 | false      |
        | data.timeout                | 60         |
        | data.source                 | "built-in" |
        | data.parameters.glob.type   | "string"   |

    Scenario: A name that is not known
      When the user runs "agents tool show edit_file"
      Then the exit code is 5
      And the error output says "There is no tool `edit_file`"
      And the error output says "Did you mean `edit-file`?"

    Scenario: Names are completed
      When the shell asks how to complete "agents tool show se"
      Then the output says "search-files"

    Scenario: The list says what is left out, and why
      Given the package acme 1.2 offers the tools
        | name   | object             |
        | talk   | acme_tools:talk    |
        | broken | acme_broken:tool   |
        | shell  | acme_tools:shell   |
      When the user runs "agents tool list"
      Then the exit code is 0
      And the output says "talk	reads	acme 1.2"
      And the output says "shell	writes	built-in"
      And the error output says "The tool `broken` of acme 1.2 cannot be used: ModuleNotFoundError"
      And the error output says "The tool `shell` of acme 1.2 is left out: no package can replace a built-in tool"

    Scenario: Effects are in the list
      Given the package acme 1.2 offers the tool refuse as acme_tools:refuse
      When the user runs "agents tool show refuse --format table"
      Then the output says "| source           | acme 1.2 |"
      And the output says "The tool has no inputs."
