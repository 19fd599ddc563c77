Feature: Calling agents
  Every call ends in an exit code a script can rely on and, when it fails, in one sentence
  that says what was wrong and what to do next.

  Rule: starting is cheap

    Scenario Outline: Help and version load none of the large libraries
      When a program imports what "<command>" needs
      Then the exit code is 0
      And neither sqlalchemy nor pydantic nor rich was loaded

      Examples:
        | command              |
        | agents --help        |
        | agents --version     |
        | agents completion -h |

  Rule: help shows what to type

    Scenario: Help names the options that every command has
      When the user runs "agents config get --help"
      Then the exit code is 0
      And the output says "--format [rich|color|table|plain|json|yaml]"
      And the output says "--color [auto|always|never]"
      And the output says "--no-input"

    Scenario: Every command has an example in its help
      When somebody reads the help of every command
      Then each shows how to use it, with an example that names it

    Scenario: Help fits on a screen of 80 columns
      Given the variable COLUMNS is "80"
      When somebody reads the help of every command
      Then no line of any help has more than 80 columns

    Scenario: A group without a command shows its help as a mistake
      When the user runs "agents config"
      Then the exit code is 2
      And the output is empty
      And the error output says "Show a setting and where its value comes from"

    Scenario Outline: The shell completes commands and settings
      When the shell asks how to complete "<words>"
      Then the exit code is 0
      And the output says "plain,<word>"

      Examples:
        | words                | word        |
        | agents config un     | unset       |
        | agents config get co | core.format |

    Scenario Outline: A completion script can be printed for each shell
      When the user runs "agents completion <shell>"
      Then the exit code is 0
      And the output says "<sign>"

      Examples:
        | shell | sign                                     |
        | bash  | complete -o nosort -F _agents_completion |
        | zsh   | #compdef agents                          |
        | fish  | complete --no-files --command agents     |

  Rule: mistakes in the call end with exit code 2 and a way out

    Scenario Outline: A mistake is explained
      When the user runs "<command>"
      Then the exit code is 2
      And the output is empty
      And the error output says "<sentence>"
      And the error output says "<hint>"

      Examples:
        | command                  | sentence                                         | hint                       |
        | agents confg             | No such command 'confg'. Did you mean 'config'?  | Run `agents --help`        |
        | agents xyzzy             | No such command 'xyzzy'.                         | Run `agents --help`        |
        | agents config lst        | No such command 'lst'. Did you mean 'list'?      | Run `agents config --help` |
        | agents config get        | Missing argument 'KEY'                           | agents config get --help   |
        | agents -- config get     | Missing argument 'KEY'                           | agents config get --help   |
        | agents config list --frm | No such option '--frm'                           | agents config list --help  |

    Scenario Outline: A mistake is a document when one was asked for, wherever
      When the user runs "<command>"
      Then the exit code is 2
      And the error output is empty
      And the JSON document has
        | field      | value     |
        | command    | <name>    |
        | status     | "error"   |
        | exit_code  | 2         |
        | data       | null      |
        | error.code | "usage"   |

      Examples:
        | command                           | name         |
        | agents --format json              | "agents"     |
        | agents --format=json config       | "config"     |
        | agents -fjson config get          | "config get" |
        | agents config get -f json         | "config get" |
        | agents config --xyz --format json | "config"     |

    Scenario: A mistake follows the user's own format too
      Given the user's file says "core.format = 'json'"
      When the user runs "agents config get"
      Then the exit code is 2
      And the JSON document has
        | field      | value   |
        | error.code | "usage" |

  Rule: every other end has its own code

    Scenario Outline: What went wrong decides the exit code
      When the user runs "agents sample fail '<way>'"
      Then the exit code is <code>
      And the output is empty
      And the error output says "Error: <sentence>"

      Examples:
        | way           | code | sentence                        |
        | database      | 1    | The disk is full                |
        | file          | 1    | Could not open file 'plan.yaml' |
        | refused       | 4    | The plan is applied             |
        | missing       | 5    | There is no plan `P1`           |
        | busy          | 6    | The plan is held by process 7   |
        | damaged       | 7    | Some stored objects of snapshot S1 |
        | failed plan   | 8    | Step 2 failed                   |
        | configuration | 10   | No                              |
        | interrupt     | 130  | Interrupted                     |
        | abort         | 130  | Interrupted                     |

    Scenario: A bug is one sentence on the screen and a traceback in a file
      When the user runs "agents sample fail bug"
      Then the exit code is 70
      And the error output says "This is a bug in CleverAgents: ZeroDivisionError: division by zero"
      And the traceback is in a file that only the user can read

    Scenario Outline: A bug is reported even where its traceback cannot be kept
      Given <situation>
      When the user runs "agents sample fail bug --format plain"
      Then the exit code is 70
      And the error output says "The traceback could not be written"

      Examples:
        | situation                           |
        | the home directory cannot be written |
        | there is no home directory at all    |
