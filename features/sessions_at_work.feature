Feature: The command of a session
  Terminal, streams and signals belong to the command, as if it had been started directly.

  Rule: The exit code is the command's, or says why there was none

    Scenario Outline: <command> ends with <code>
      Given a project of the kind `git`
      When the user runs "agents run -i -- <command>"
      Then the exit code is <code>
      And the output is empty

      Examples:
        | command                     | code |
        | true                        | 0    |
        | sh -c 'exit 3'              | 3    |
        | sh -c 'exit 125'            | 125  |
        | ./a.txt                     | 126  |
        | no-such-command             | 127  |
        | ./no-such-command           | 127  |
        | sh -c 'kill -KILL $$'       | 137  |
        | sh -c 'kill -TERM $$'       | 143  |
        | ./run.sh                    | 127  |

    Scenario: A program that cannot be executed is found on the path
      Given a project of the kind `git`
      And a file on the path that cannot be executed
      When the user runs "agents run -i -- sleeper"
      Then the exit code is 126

    Scenario: A session whose command failed has ended like any other
      Given a project of the kind `git`
      When a session `-i --name refactor --report report.json` runs `echo two > a.txt; exit 3`
      Then the exit code is 3
      And the output is empty
      And the error output says "modified     a.txt"
      And the session is `execute/complete`, with the exit code `3`
      And its checkpoints are `session_start, session_end`
      And the report `report.json` has
        | field           | value                                       |
        | command         | "run"                                       |
        | status          | "ok"                                        |
        | exit_code       | 3                                           |
        | data.isolation  | "in-place"                                  |
        | data.command    | ["sh", "-c", "echo two > a.txt; exit 3"]    |
        | data.checkpoints | 2                                          |
        | data.changes    | [{"path": "a.txt", "status": "modified"}]   |

    Scenario: A report that cannot be written is a warning
      Given a project of the kind `git`
      When a session `-i --report no/such/place.json` runs `echo two > a.txt`
      Then the exit code is 0
      And the error output says "The report could not be written"
      And the error output says "modified     a.txt"
      And the error output does not say "cannot be shown"

    Scenario: A session that changed nothing says so
      Given a project of the kind `git`
      When a session `-i` runs `true`
      Then the error output says "changed no files"

    Scenario: A name with a line end stays on one line at the end of a session
      Given a project of the kind `git`
      When a session `-i` runs `touch "$(printf 'new\nline')"`
      Then the error output says "added        new\nline"

    Scenario: The status says what a session is
      Given a project of the kind `git`
      And a session `-i` has run `true`
      When the user runs "agents plan status @latest --format json"
      Then the JSON document has
        | field                           | value      |
        | data.kind                       | "session"  |
        | data.isolation                  | "in-place" |
        | data.client                     | null       |
        | data.turns                      | 0          |
        | data.recorder                   | null       |
        | data.execution.sandbox.strategy | "in_place" |
        | data.execution.sandbox.branch   | "main"     |

    Scenario: The list of plans shows sessions that have ended
      Given a project of the kind `git`
      And a session `-i --name tidy` has run `true`
      When the user runs "agents plan list --state complete"
      Then the output says "tidy"

    Scenario: The list of plans names the process of a session that runs
      Given a project of the kind `git`
      When a session lists the plans while it runs
      Then the list says that it is processing, and which process records it

    Scenario: The directory of the command is the user's
      Given a project of the kind `git`
      And a session `--isolation copy --project src` has run `basename "$PWD" > where`
      When the user runs "agents apply --yes"
      Then `cat src/where` in the project prints `src`

  Rule: The terminal and the signals belong to the command

    Scenario Outline: <signal> is passed on once
      Given a project of the kind `git`
      When a session is sent <signal> while its command waits for it
      Then the exit code is 7
      And `cat got` in the project prints `<signal>`
      And the output is empty

      Examples:
        | signal  |
        | SIGTERM |
        | SIGHUP  |
        | SIGUSR1 |
        | SIGUSR2 |

    Scenario: A command that survives Ctrl-C keeps running
      Given a project of the kind `git`
      When the user types Ctrl-C into a session whose command survives it
      Then the exit code is 0
      And `cat got` in the project prints `survived`
      And the session is `execute/complete`, with the exit code `0`

    Scenario: The session stops and continues with its command
      Given a project of the kind `git`
      When the command of a session stops itself, and the session is continued
      Then the session had stopped with its command
      And the exit code is 0
      And `cat on` in the project prints `on`
