Feature: Asking a run to stop
  Ctrl-C, or a request to end, stops work where it can go on later. A second one does not wait.

  Rule: the first request is noted, the second one obeyed at once

    Scenario Outline: A request by <signal> is something to ask for
      When <signal> comes while the work listens
      Then the work knows that it is to stop
      And afterwards a signal means what it meant before

      Examples:
        | signal  |
        | SIGINT  |
        | SIGTERM |

    Scenario Outline: <requests>
      When the work listens and <happens>
      Then the work ends with <end>
      And afterwards a signal means what it meant before

      Examples:
        | requests                             | happens                                           | end              |
        | A second request does not wait       | two requests come                                 | an interruption  |
        | A request is not lost                | a request comes that nobody acts on               | an interruption  |
        | An error comes before a late request | a request comes and then an error                 | the error        |
        | Listening in parts is listening      | a request comes in an inner part, and is acted on | its own decision |
        | The next work starts afresh          | other work was asked to stop before               | nothing          |

    Scenario: What was ignored stays ignored
      Given the user has had requests to end ignored
      When SIGTERM comes while the work listens
      Then the work knows of nothing

    Scenario: Other threads have nothing to listen to
      When a thread listens
      Then the work ends with nothing
      And afterwards a signal means what it meant before

  Rule: a command that runs is ended at once

    Scenario Outline: <what> is ended
      When the command `<command>` asks us to stop while it runs
      Then the work fails because `shell` was interrupted and stopped
      And none of its processes is left

      Examples:
        | what                     | command                                                                   |
        | A command                | echo $$ > pid.txt; kill -TERM $PPID; sleep 60                             |
        | A command without output | echo $$ > pid.txt; exec >&- 2>&-; kill -INT $PPID; sleep 60               |
        | A daemon of a command    | setsid sh -c 'echo $$ > pid.txt; kill -INT '$PPID'; exec sleep 60' & wait |

    Scenario: A tool of the plan is ended
      When the plan's tool `echo $$ > pid.txt; kill -TERM $PPID; sleep 60` asks us to stop while it runs
      Then the work fails because `my-tool` was interrupted and stopped
      And none of its processes is left

  Rule: a request to end is not a crash

    Scenario: A run that is asked to end says so, and ends its tool
      Given a plan with the steps
        | step | does                                                                         |
        | one  | runs `echo $$ > OUTSIDE/tool; touch OUTSIDE/begun; sleep 60; touch late.txt` |
      And the plan has been made
      And another process is executing the plan
      When that process is asked to end
      Then it says with the code 130 that it was interrupted
      And its tool no longer runs

    Scenario: Where requests to end are ignored, they stay ignored
      Given the user has had requests to end ignored
      When the user runs "agents --version"
      Then the exit code is 0
