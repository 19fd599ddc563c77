Feature: Tools that misbehave
  A tool may do anything a program can do. It gets its way in its own process, and nowhere else.

  Scenario: A gigabyte of output takes little memory
    When the command `head -c 1000000000 /dev/zero` runs while memory is watched
    Then the output is cut, and says that 999737856 bytes were left out
    And at most 8 megabytes were needed for it

  Scenario: An endless line of a tool that fails does not fill the message
    When the command `head -c 3000000 /dev/zero | tr '\0' x; exit 3` runs
    Then the message of the failure has less than 1200 characters

  Scenario: A flood is stopped when its time is up
    When the command `echo $$ > pid.txt; exec yes` runs until its time is up, 1 second
    Then the tool took too long and was ended
    And none of its processes is left

  Scenario: A tool that goes elsewhere does not take the next one with it
    Given the command `cd / && pwd` has run
    When the command `pwd` runs
    Then the output is "SANDBOX\n"

  Scenario: A tool may delete the ground it stands on
    When the command `rm -rf "$CLEVERAGENTS_RESOURCE_PROJECT"; pwd > /dev/null; echo gone` runs
    Then the output is "gone\n"
    And nothing outside the sandbox has changed

  Scenario: A tool has the streams it should have, and no other file of the program is open
    When the command `ls /proc/self/fd | wc -l` runs
    Then the output is "4\n"

  Scenario: A tool may open very many files
    When the command `python3 -c "import os; files = [open(f'{n}', 'w') for n in range(1000)]; print(len(files))"` runs
    Then the output is "1000\n"

  Scenario Outline: A tool that <what> ends as it wants to
    When the command `<command>` runs
    Then the tool fails because `shell` <reason>

    Examples:
      | what                             | command                              | reason                      |
      | ends itself by a signal          | kill -TERM $$; sleep 60              | was killed by signal SIGTERM |
      | crashes                          | ulimit -c 0; kill -SEGV $$; sleep 60 | was killed by signal SIGSEGV |
      | aborts                           | ulimit -c 0; kill -ABRT $$; sleep 60 | was killed by signal SIGABRT |
      | ends its group with itself       | kill -KILL 0; sleep 60               | was killed by signal SIGKILL |

  Scenario: A tool that stops itself is ended when its time is up
    When the command `echo $$ > pid.txt; kill -STOP $$; sleep 60` runs until its time is up, 1 second
    Then the tool fails because `shell` took longer than 1 seconds and was stopped
    And none of its processes is left

  Scenario: A tool that forks again and again is ended whole
    When the command `fork without end, in two sessions` runs until its time is up, 1 second
    Then the tool took too long and was ended
    And none of its processes is left
    And nothing of the tool is found in the process table
