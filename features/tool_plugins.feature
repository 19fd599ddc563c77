Feature: Tools of other packages
  Packages offer tools as entry points, programs register them; plans use them like others.

  Rule: a function becomes a tool

    Background:
      Given the package acme 1.2 offers the tools
        | name          | object                   |
        | count-words   | acme_tools:count_words   |
        | look-around   | acme_tools:look_around   |
        | talk          | acme_tools:talk          |
        | raise-error   | acme_tools:raise_error   |
        | raise-nothing | acme_tools:raise_nothing |
        | refuse        | acme_tools:refuse        |
        | leave         | acme_tools:leave         |
        | give-number   | acme_tools:give_number   |
        | sleep         | acme_tools:sleep         |
        | background    | acme_tools:background    |
        | take-lock     | acme_tools:take_lock     |
        | leave-thread  | acme_tools:leave_thread  |

    Scenario: It gives its output back
      When the tool count-words of the package runs with `{"text": "one two"}`
      Then the output is "2"

    Scenario: It runs in the sandbox, without git's variables and without input
      Given git's variables point at another repository
      When the tool look-around of the package runs with `{}`
      Then the output is "SANDBOX SANDBOX None"

    Scenario: Much output keeps its beginning and its end
      When the tool talk of the package runs with `{}`
      Then the output is cut, and says that 737856 bytes were left out

    Scenario Outline: It fails
      When the tool <name> of the package runs with `<input>`
      Then the tool fails because <reason>

      Examples:
        | name          | input | reason                                                              |
        | raise-error   | {}    | `raise-error` failed: ZeroDivisionError: division by zero           |
        | raise-nothing | {}    | `raise-nothing` failed: KeyError                                    |
        | refuse        | {}    | not today                                                           |
        | give-number   | {}    | `give-number` returned int, not text                               |
        | count-words   | {}    | `count-words` needs the input `text`                                |

    Scenario: A function that ends its process
      When the tool leave of the package runs with `{}`
      Then the failure keeps what was printed: SystemExit: 3

    Scenario: What it printed is kept with its failure
      When the tool raise-error of the package runs with `{}`
      Then the failure keeps what was printed: so far

    Scenario: It waits for nothing that the threads of the program hold
      Given another thread of the program holds a lock that the tool take-lock takes
      When the tool take-lock of the package runs with `{}`
      Then the output is "taken"

    Scenario: A file of the sandbox does not take the place of a module
      Given a sandbox with
        | kind | path    | content     |
        | file | json.py | exit()      |
        | file | acme_tools.py | exit() |
      When the tool count-words of the package runs with `{"text": "one two"}`
      Then the output is "2"

    Scenario: A thread that it leaves behind is not waited for
      When the tool leave-thread of the package runs with `{}`
      Then the output is "done"

    Scenario: It takes too long
      Given the time of the package's tools is up once they have written pid.txt
      When the tool sleep of the package runs with `{}`
      Then the tool fails because `sleep` took longer than 1 seconds and was stopped:\ngoing to sleep
      And none of its processes is left

    Scenario: Nothing of it keeps running
      When the tool background of the package runs with `{}`
      Then none of its processes is left

  Rule: a package that is broken harms nobody else

    Scenario Outline: A tool that cannot be used
      Given the package acme 1.2 offers the tool <name> as <object>
      When the tool <name> of the package is looked up
      Then that tool is refused because The tool `<name>` of acme 1.2 cannot be used: <reason>

      Examples:
        | name     | object                 | reason                                                        |
        | broken   | acme_broken:tool       | ModuleNotFoundError: No module named 'no_such_module'         |
        | exits    | acme_exits:tool        | SystemExit: 9                                                 |
        | absent   | acme_tools:nothing     | AttributeError: module 'acme_tools' has no attribute 'nothing' |
        | number   | acme_tools:not_a_tool  | acme_tools:not_a_tool is not a `cleveragents.tools.Tool`      |
        | other    | acme_tools:talk        | its own name is `talk`                                        |
        | odd name | acme_tools:odd         | a tool cannot have that name                                  |
        | runs     | acme_tools:runs        | it declares a shell command to `run`                          |

    Scenario: Two packages offer the same name
      Given the package acme 1.2 offers the tool talk as acme_tools:talk
      And the package rival 3.0 offers the tool talk as acme_tools:look_around
      When the tool talk of the package is looked up
      Then that tool is refused because The tool `talk` of acme 1.2 and rival 3.0 cannot be used: more than one package offers it

    Scenario: A plan that does not use it is not concerned
      Given the package acme 1.2 offers the tool broken as acme_broken:tool
      When a plan is read that uses list-files
      Then the plan is accepted
      And no package was imported

    Scenario: The error of a plan that uses it names the broken package
      Given the package acme 1.2 offers the tool broken as acme_broken:tool
      When a plan is read that uses broken
      Then the refusal names the tool broken and the package acme 1.2
