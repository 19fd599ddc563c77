Feature: What runs beside a session, and after its command
  Rule: What a command leaves running is recorded as well

    Scenario: A process that outlives its command is named
      Given a project of the kind `git`
      When a session `-i` leaves a process that waits
      Then the exit code is 0
      And the error output says "Still running: sh"

    Scenario: A process that outlives its command is recorded to its end
      Given a project of the kind `git`
      And a session `-i` has left a process that waits
      When the process that it left writes `late` and ends
      Then the session is `execute/complete`, with the exit code `0`
      And its last checkpoint has `early` and `late`

    Scenario: The recording of what was left is ended on request
      Given a project of the kind `git`
      And a session `-i` has left a process that waits
      When the user runs "agents plan cancel @latest"
      Then the exit code is 0
      And nobody records the session
      And the process that it left still runs

    Scenario: A session is cancelled while its command runs
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      And the user has run "agents plan cancel @latest"
      When the command writes `late` and ends
      Then the error output says "The session was ended while its command ran"
      And the newest plan is cancelled

  Rule: Two sessions never work on the same files

    Scenario: A second session in place is refused
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When a session `-i` runs `echo two > a.txt`
      Then the exit code is 125
      And the error output says "Another session works on the files of this project"
      And the newest plan is cancelled

    Scenario: A second session in a copy is not
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When a session `--isolation copy` runs `echo two > a.txt`
      Then the exit code is 0

    Scenario: An earlier session is not rolled back under one that runs
      Given a project of the kind `git`
      And a session `-i` has run `echo two > a.txt`
      And the earlier session is known
      And a session `-i` whose command writes `early` and waits
      When the user rolls the earlier session back
      Then the exit code is 6
      And `cat a.txt early | paste -sd+` in the project prints `two+early`

  Rule: Requests find the recorder wherever the home is

    Scenario: A home with a very long path
      Given a project of the kind `git`
      And a home directory with a path of 200 characters
      And a session `-i` whose command writes `early` and waits
      When the user runs "agents rollback @first --yes"
      Then the exit code is 0
      And the session still runs

    Scenario: A socket that a killed recorder left is in nobody's way
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      And everything was killed at once
      When the project is rolled back to the start
      Then the files of the project are as before
      And no socket is left
