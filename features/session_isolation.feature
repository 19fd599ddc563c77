Feature: The isolation of a session that names none
  A private view is the default. Where it is not possible, the user decides once for the project
  whether commands may work in place; without a terminal nobody is asked, and nothing starts.

  Rule: Where a view is not possible, the user is asked once

    Background:
      Given a project of the kind `git`
      And the git of the project is elsewhere

    Scenario: The question gives the reason, and a yes starts the command in place
      When the user types "agents run -- sh -c 'echo two > a.txt'" at a terminal and answers y
      Then the exit code is 0
      And the screen says "outside of the project"
      And the screen says "Work on your own files instead, with checkpoints to go back to?"
      And the screen says "In place: the command works on your own files"
      And `cat a.txt` in the project prints `two`

    Scenario: What the first command of all makes is private
      When the user types "agents run -- true" at a terminal and answers n
      Then the exit code is 125
      And nobody else can look into the home directory

    Scenario: A yes is remembered, also where there is no terminal
      Given the user has answered y to "agents run -- true"
      When the user runs "agents run -- sh -c 'echo two > a.txt'"
      Then the exit code is 0
      And `cat a.txt` in the project prints `two`

    Scenario: A no starts nothing
      When the user types "agents run -- sh -c 'echo two > a.txt'" at a terminal and answers n
      Then the exit code is 125
      And the screen says "`-i`"
      And the files of the project are as before, but for its git

    Scenario: A no is remembered
      Given the user has answered n to "agents run -- true"
      When the user types "agents run -- sh -c 'echo two > a.txt'" at a terminal and is not asked
      Then the exit code is 125
      And the files of the project are as before, but for its git

    Scenario: A no is no longer asked about with the flag
      Given the user has answered n to "agents run -- true"
      When the user types "agents run -i -- sh -c 'echo two > a.txt'" at a terminal and is not asked
      Then the exit code is 0
      And `cat a.txt` in the project prints `two`

    Scenario: Without a terminal nobody is asked
      When the user runs "agents run -- sh -c 'echo two > a.txt'"
      Then the exit code is 125
      And the output is empty
      And the error output says "outside of the project"
      And the error output says "Add `-i` to work on your own files"
      And the files of the project are as before, but for its git

  Rule: A Docker daemon that can be reached is named, because it sees the real files

    Scenario Outline: A session <options> where a Docker socket can be reached
      Given a project of the kind `git`
      And a Docker socket can be reached
      When a session `<options>` runs `true`
      Then the exit code is 0
      And the error output says <times> "Docker can be reached at"

      Examples:
        | options          | times |
        | --isolation copy | once  |
        | -i               | never |

    Scenario: A session where Docker is elsewhere
      Given a project of the kind `git`
      And the variable DOCKER_HOST is "tcp://127.0.0.1:1"
      When a session `--isolation copy` runs `true`
      Then the error output says never "Docker can be reached at"
