Feature: Shell commands
  A command runs in the sandbox's directory; when it has ended, all of it has ended.

  Rule: a command finds its way

    Scenario: It starts in the sandbox and knows every sandbox of the plan
      Given the tool runs for the plan "01PLAN"
      When the command `pwd; echo $CLEVERAGENTS_RESOURCE_PROJECT $CLEVERAGENTS_RESOURCE_MY_SITE $CLEVERAGENTS_PLAN_ID` runs
      Then the output is "SANDBOX\nSANDBOX OUTSIDE 01PLAN\n"

    Scenario: Variables that would lead git elsewhere are taken away
      Given git's variables point at another repository
      When the command `env | grep -c ^GIT_ || true` runs
      Then the output is "0\n"

    Scenario: It cannot wait for someone to type
      When the command `cat; echo done` runs
      Then the output is "done\n"

  Rule: a command that fails says why

    Scenario: The status and the last lines are shown
      When the command `seq 1 7; echo problem >&2; exit 3` runs
      Then the tool fails because `shell` failed with status 3:\n4\n5\n6\n7\nproblem
      And the failure keeps the status 3 and the whole output

    Scenario Outline: A command ends badly
      When the command `<command>` runs
      Then the tool fails because <reason>

      Examples:
        | command     | reason                                                              |
        | exit 1      | `shell` failed with status 1                                        |
        | kill -9 $$  | `shell` was killed by signal SIGKILL                                 |
        | kill -40 $$ | `shell` was killed by signal 40                                      |

    Scenario: The sandbox is gone
      Given the sandbox has been deleted
      When the command `true` runs
      Then the tool fails because `shell` cannot start: [Errno 2] No such file or directory: 'SANDBOX'

  Rule: nothing of a command stays behind

    Scenario: A command that takes too long is ended with its children
      When the command `echo working; sleep 60 & echo $! > pid.txt; wait` runs until its time is up, 1 second
      Then the tool fails because `shell` took longer than 1 seconds and was stopped:\nworking
      And none of its processes is left

    Scenario: A process that does not listen is killed
      When the command `trap '' TERM; exec >&- 2>&-; echo $$ > pid.txt; sleep 60; sleep 60` runs until its time is up, 1 second
      Then the tool fails because `shell` took longer than 1 seconds and was stopped
      And none of its processes is left

    Scenario: A process in the background is ended and reported
      When the command `sleep 60 & echo $! > pid.txt; printf started` runs
      Then the output is "started\n[stopped 1 background process]\n"
      And none of its processes is left

    Scenario: Several background processes no longer write
      When the command `sleep 60 > log.txt & sleep 60 & echo $! > pid.txt` runs
      Then the output is "[stopped 2 background processes]\n"
      And none of its processes is left

    Scenario: An interruption ends the command before it goes further
      When the command `echo $$ > pid.txt; sleep 60; true` is interrupted
      Then the output is "interrupted"
      And none of its processes is left
