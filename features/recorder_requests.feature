Feature: Asking for checkpoints and rollbacks while the command of a session runs
  `agents` in another terminal has the process that records the session do the work. The command
  runs on, and what it writes afterward costs nothing that was saved.

  Rule: Everything that goes back works while the command runs

    Scenario: A checkpoint is requested
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When the user runs "agents plan checkpoint create @latest --label halfway --format json"
      Then the exit code is 0
      And the session still runs
      And `halfway` is one of its checkpoints

    Scenario Outline: A rollback while the command of a session <options> runs
      Given a project of the kind `git`
      And a session `<options>` whose command writes `early` and waits
      And the user has run "agents rollback @first --yes"
      And the session still runs
      When the command writes `late` and ends
      Then the session is `execute/complete`, with the exit code `7`
      And its last checkpoint has `late` and not `early`

      Examples:
        | options          |
        | -i               |
        | --isolation copy |

    Scenario: A rollback shows its preview, and says what it did
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      And the user sits before a terminal
      When the user answers "y" to "agents rollback @first"
      Then the exit code is 0
      And the error output says "This changes your own files in"
      And the files of the project are as before

    Scenario: A rollback during a run is undone during the run
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      And the user has run "agents rollback @first --yes"
      When the user runs "agents undo --yes"
      Then the exit code is 0
      And the session still runs
      And `cat early` in the project prints `early`

    Scenario: A rollback during a run offers only what works during the run
      Given a project of the kind `git`
      And a session `--isolation copy` whose command writes `early` and waits
      When the user runs "agents rollback @first --yes"
      Then the output says "agents plan undo"
      And the output does not say "Continue from here"

    Scenario: An undo is redone during the run
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      And the user has run "agents rollback @first --yes"
      And the user has run "agents undo --yes"
      When the user runs "agents redo --yes"
      Then the session still runs
      And the files of the project are as before

    Scenario: What was rolled back during the run is brought back after it
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      And the user has run "agents rollback @first --yes"
      And the command has written `late` and ended
      And the user has run "agents undo --yes"
      When the user runs "agents undo --yes"
      Then `cat early` in the project prints `early`
      And the session is `execute/complete`, with the exit code `7`

    Scenario: One file is rolled back while the command runs
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When the user runs "agents rollback @first --path early --yes"
      Then the exit code is 0
      And the session still runs
      And the files of the project are as before

    Scenario: An error of the recorder is the error of the command
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When the user runs "agents undo --yes --format json"
      Then the exit code is 4
      And the JSON document has
        | field      | value                  |
        | error.code | "nothing_to_take_back" |

  Rule: What cannot be done meanwhile is refused

    Scenario: The result is not applied while the command works on it
      Given a project of the kind `git`
      And a session `--isolation copy` whose command writes `early` and waits
      When the user runs "agents apply --yes"
      Then the exit code is 6
      And the error output says "still runs"
      And the error output says "Wait until its command has ended"
      And the session still runs

  Rule: Many may ask

    Scenario: Two terminals ask at the same time
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When 4 terminals ask for a checkpoint at the same time
      Then all of them succeeded
      And the session still runs

    Scenario: A terminal that asks is killed
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When a terminal that asks for a rollback is killed at several moments
      Then the session still runs
      And a rollback to the start is exact

    Scenario: A recorder that dies while it is asked
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When the recorder is killed at several moments of a rollback
      Then the session still runs
      And a rollback to the start is exact
