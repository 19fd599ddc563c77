Feature: The process that records a session
  While the command of a session runs, another process holds the plan and takes its checkpoints. It
  can die, and so can `agents run`: nothing is lost, and the command notices nothing.

  Rule: Whoever dies, the session is recorded to its end

    Scenario Outline: The recorder is killed while the command <work>
      Given a project of the kind `git`
      And a session `<options>` whose command writes `early` and waits
      When the recorder is killed, and the command writes `late` and ends
      Then the exit code is 7
      And the session is `execute/complete`, with the exit code `7`
      And its last checkpoint has `early` and `late`

      Examples:
        | work             | options          |
        | works in place   | -i               |
        | works in a copy  | --isolation copy |

    Scenario: The recorder is killed again and again
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When the recorder is killed 4 times, and the command writes `late` and ends
      Then the exit code is 7
      And its last checkpoint has `early` and `late`

    Scenario: A recorder that always dies is given up, and the end is recorded all the same
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When the recorder is killed 20 times, and the command writes `late` and ends
      Then the exit code is 7
      And the error output says "could not be recorded to its end"
      And the session is `execute/complete`, with the exit code `7`
      And its last checkpoint has `early` and `late`

    Scenario: `agents run` and the recorder are killed, and the command goes on
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      And `agents run` and the recorder were killed, and the command wrote `late` and ended
      When the project is rolled back to the start
      Then the files of the project are as before
      And the session is `execute/complete`, with the exit code `null`

    Scenario: Everything is killed at once
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      And everything was killed at once
      And the project was rolled back to the start
      When the user runs "agents undo --yes"
      Then `cat early` in the project prints `early`

    Scenario Outline: The recorder is killed at <point>, for the time number <number>
      Given a project of the kind `git`
      And the first process that is at <point> for the time number <number> is killed there
      When a session `-i` runs `echo two > a.txt`
      Then the exit code is 0
      And that process was killed
      And the session is `execute/complete`, with the exit code `0`
      And its last checkpoint has `a.txt` and `a.txt`

      Examples:
        | point          | number |
        | snapshot-taken | 1      |
        | group-recorded | 1      |
        | start-kept     | 1      |
        | command-ended  | 1      |
        | snapshot-taken | 2      |
        | group-recorded | 2      |

    Scenario: `agents run` is killed before anybody records the session
      Given a project of the kind `git`
      And the first process that is at session-created for the time number 1 is killed there
      And a session `-i` has run `echo two > a.txt`
      When the user runs "agents plan checkpoint create @latest"
      Then the newest plan is cancelled
      And the files of the project are as before

  Rule: The recorder belongs to no terminal

    Scenario: A recorder leads a session of its own, and writes to no terminal
      Given a project of the kind `git`
      And a session `-i` whose command writes `early` and waits
      When the user looks at the recorder
      Then it leads a session of its own
      And its streams are no terminal
      And it uses no time while nothing happens
