@disk
Feature: A killed process
  Whatever the instruction at which `agents` is killed, the next command finds a whole state,
  completes or undoes what was under way and says which.

  Rule: a killed run is gone on with, and ends as if nothing had happened

    Scenario Outline: Killed <moment>
      Given a plan with the steps
        | step | does                   |
        | one  | runs `echo 1 >> a.txt` |
        | two  | runs `echo 2 >> b.txt; rm run.sh` |
      And the plan has been made
      And executing it has been killed <moment>, at the <number>. time
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo 1 > a.txt; echo 2 > b.txt; rm run.sh`
      And the plan is execute/complete with 2 steps done
      And every checkpoint has its snapshot

      Examples:
        | moment                                           | number |
        | while the mirror is made                         | 1      |
        | while the sandbox is filled                      | 1      |
        | when the sandbox is made and not recorded        | 1      |
        | when a snapshot's bytes are stored and not named | 1      |
        | when a snapshot is named and not recorded        | 1      |
        | when a snapshot's bytes are stored and not named | 3      |
        | when a snapshot is named and not recorded        | 4      |
        | when a tool is about to start                    | 2      |
        | when a tool has run and is not recorded          | 2      |

    Scenario: Killed in the middle of a tool
      Given a plan with the steps
        | step | does                                                                                   |
        | one  | writes a.txt                                                                           |
        | two  | runs `echo half >> b.txt; test -e OUTSIDE/fixed \|\| kill -9 $PPID; echo done >> b.txt` |
      And the plan has been made
      And executing it has been killed by its own tool
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the sandbox is the project after `echo by one > a.txt; echo half > b.txt; echo done >> b.txt`
      And the steps that ran are 2
      And it warns that "The sandbox differed from the checkpoint `before two` and was restored"

    Scenario: It is listed as interrupted
      Given a plan with the steps
        | step | does                                                      |
        | one  | runs `test -e OUTSIDE/fixed \|\| kill -9 $PPID; sleep 0.1` |
      And the plan has been made
      And executing it has been killed by its own tool
      When the user runs "agents plan list"
      Then the output says "interrupted"
      And the output does not say "processing"

  Rule: a killed rollback is completed, or has not begun

    Scenario Outline: Killed <moment>
      Given a plan with the steps
        | step  | does                                                        |
        | one   | writes a.txt                                                |
        | wreck | runs `rm a.txt README.md run.sh; echo x > src/app.py`       |
      And the plan has run
      And rolling it back to "after one" has been killed <moment>, at the <number>. time
      When the user executes the plan
      Then the messages are <messages>
      And the plan is execute/complete with 2 steps done
      And the sandbox is as it was at "after execution"
      And every checkpoint has its snapshot

      Examples:
        | moment                                                  | number | messages                                                                    |
        | when the rollback is about to be entered in the journal | 1      | The plan was already complete                                               |
        | when the second file is about to be restored            | 3      | Plan complete; An interrupted rollback to «after one» was completed      |
        | when everything is restored and nothing recorded        | 1      | Plan complete; An interrupted rollback to «after one» was completed      |

    Scenario: A killed rollback is ended by the next one
      Given a plan that wrote a.txt in step one and b.txt in step two
      And rolling it back to "after one" has been killed when everything is restored and nothing recorded, at the 1. time
      When the user rolls the plan back to "before one"
      Then it warns that "An interrupted rollback to «after one» was completed"
      And the sandbox is as it was at "before one"
      And the checkpoints are before execution, before one, before rollback to after one, before rollback to before one

  Rule: this holds at every instruction, not only at these

    Scenario: A rollback killed at actions all along its way
      Given a plan with the steps
        | step  | does                                                  |
        | one   | writes a.txt                                          |
        | wreck | runs `rm a.txt README.md; echo x > src/app.py`        |
      And the plan has run
      When rolling it back to "before wreck" is killed at one action after another and then done
      Then the sandbox was as at "before wreck" every time, and no record was lost

    Scenario: A run killed at actions all along its way
      Given a plan with the steps
        | step | does                             |
        | one  | runs `echo 1 >> a.txt; rm run.sh` |
      And the plan has been made
      When executing it is killed at one action after another and then done
      Then the sandbox was the project after `echo 1 > a.txt; rm run.sh` every time, and no record was lost
