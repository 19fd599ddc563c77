Feature: Any command, made reversible
  `agents run` runs a program that is not ours as a session. The exit code is the command's, and
  whatever we have to say goes to stderr.

  Rule: In a copy, the project stays as it is until the result is applied

    Scenario Outline: A session in a copy of a project of the kind <kind> leaves the project alone
      Given a project of the kind `<kind>`
      When a session `--isolation copy` runs `changes of every kind`
      Then the exit code is 0
      And the files of the project are as before
      And nothing in its git was touched

      Examples:
        | kind            |
        | git             |
        | plain directory |

    Scenario Outline: The result of a session in a copy of a project of the kind <kind> is applied
      Given a project of the kind `<kind>`
      And a session `--isolation copy` has run `changes of every kind`
      When the user runs "agents apply --yes"
      Then the exit code is 0
      And `cat a.txt new/n | paste -sd+` in the project prints `two+n`

      Examples:
        | kind            |
        | git             |
        | plain directory |

    Scenario: The command sees what is not committed, and what it leaves arrives uncommitted
      Given a project of the kind `git`
      And a session `--isolation copy` has run `echo more >> a.txt`
      When the user runs "agents apply --yes"
      Then `paste -sd+ a.txt` in the project prints `one+not committed+more`
      And `git log --format=%s` in the project prints `one`

    Scenario: A project that a copy cannot hold is refused before the command starts
      Given a project of the kind `submodule`
      When a session `--isolation copy` runs `echo two > a.txt`
      Then the exit code is 125
      And the error output says "submodule"
      And the files of the project are as before

  Rule: What is not possible is refused before the command starts

    Scenario: A session does not start in another one
      Given a project of the kind `git`
      And the variable CLEVERAGENTS_SESSION is "01HXM8C2"
      When a session `-i` runs `echo two > a.txt`
      Then the exit code is 125
      And the error output says "already runs in the session 01HXM8C2"

    Scenario: The first checkpoint cannot be made
      Given a project of the kind `git`
      And the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is "0.000001"
      When a session `-i` runs `echo two > a.txt`
      Then the exit code is 125
      And the files of the project are as before
      And the newest plan is cancelled

    Scenario Outline: A wrong call: <arguments>
      Given a project of the kind `git`
      And the variable CLEVERAGENTS_FORMAT is "json"
      When the user runs "agents run <arguments>"
      Then the exit code is 125
      And the output is empty

      Examples:
        | arguments                 |
        | -i                        |
        | --isolation=best -- true  |
        | --format json -i -- true  |
        | -i --project nowhere -- true |
