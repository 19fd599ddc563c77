Feature: Processes that tools leave behind
  When a tool has ended, all of it has ended, however it hides. What a killed run left is ended when
  its plan is taken up again.

  Rule: a daemon is a process of its tool

    Scenario Outline: <what> is ended and reported
      When the command `<command>` runs
      Then the output is "[stopped <number>]\n"
      And none of its processes is left

      Examples:
        | what                             | number                 | command                                |
        | A process in another session     | 1 background process   | start a daemon in another session      |
        | A daemon that forked twice       | 1 background process   | start a daemon that forks twice        |
        | A daemon without its environment | 2 background processes | start a daemon without its environment |
        | A daemon that does not listen    | 2 background processes | start a daemon that ignores SIGTERM    |

    Scenario: A daemon is ended when the time of its tool is up
      When the command `setsid sh -c 'echo $$ > pid.txt; exec sleep 60' & wait` runs until its time is up, 1 second
      Then the tool fails because `shell` took longer than 1 seconds and was stopped
      And none of its processes is left

    Scenario: A daemon of another tool keeps running
      Given a daemon of another tool
      When the command `echo done` runs
      Then the output is "done\n"
      And the daemon of the other tool still runs

  Rule: what a killed run left is ended with its plan's next run

    Scenario: Everything of the plan's tools is ended
      Given a run of the plan was killed while its tool and a daemon of it ran
      When what is left of the plan is ended
      Then 3 processes were ended
      And none of its processes is left

    Scenario Outline: <whose> is not touched
      Given <situation>
      When what is left of the plan is ended
      Then 0 processes were ended
      And that process still runs

      Examples:
        | whose                          | situation                                                     |
        | A process of another plan      | a process of another plan's tool                              |
        | A process of the user          | a process of the user who named the plan in their environment |
        | A process that may not be read | a process of the plan's tool that may not be read             |

    Scenario: A command that is itself part of the plan's tool does not end itself
      When a tool of the plan ends what is left of the plan
      Then 0 processes were ended

    Scenario: Where there is no process table, nothing is ended
      Given a run of the plan was killed while its tool and a daemon of it ran
      When what is left of the plan is ended on a system without a process table
      Then 0 processes were ended

  Rule: a signal reaches the process that was found and no other

    Scenario Outline: <what>
      Given a process of the plan's tool
      When it has to end and <happens>
      Then that process still runs: <runs>

      Examples:
        | what                                           | happens                                    | runs |
        | A number that was given away again             | its number means a later process by then   | yes  |
        | A process that ends by itself                  | it has ended by itself by then             | no   |
        | A system that cannot take hold of a process    | the system cannot take hold of processes   | no   |
        | A process that is just changing its program    | its environment is empty for a moment      | no   |
