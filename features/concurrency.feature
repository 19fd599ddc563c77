Feature: Several processes at once
  One process at a time changes a plan. The second learns who was first; a process that died
  blocks nobody. A lock on a file tells whether a process runs, not its number or its host.

  Rule: a plan has one holder

    Scenario: The second process learns who holds the plan
      Given a plan with the steps
        | step | does                                                                                                       |
        | one  | runs `touch OUTSIDE/begun; while ! test -e OUTSIDE/fixed && test -d OUTSIDE; do sleep 0.05; done` |
      And the plan has been made
      And another process is executing the plan
      When the user executes the plan
      Then it is refused with the code 6 and the sentence Plan PLAN is held by process LIVING on HOST (`__main__.py plan execute PLAN`)
      And the other process ends well once the cause of its waiting is fixed

    Scenario: After a kill the next process continues at once
      Given a plan with the steps
        | step | does                                                                                                       |
        | one  | runs `touch OUTSIDE/begun; while ! test -e OUTSIDE/fixed && test -d OUTSIDE; do sleep 0.05; done` |
        | two  | writes b.txt                                                                                               |
      And the plan has been made
      And another process is executing the plan
      And that process and its tool have been killed, and the cause of its waiting fixed
      When the user executes the plan
      Then the exit code is 0
      And the plan is execute/complete with 2 steps done
      And the plan has been held 2 times

    Scenario Outline: Two containers with one host name, one home and <database> do not both write
      Given a plan with the steps
        | step | does                                                                                                       |
        | one  | runs `echo once >> OUTSIDE/begun; while ! test -e OUTSIDE/fixed && test -d OUTSIDE; do sleep 0.05; done` |
      And the plan has been made, with its records in <database>
      And a container is executing the plan
      When another container with the same host name executes the plan
      Then the exit code is 6
      And the step has run once, and the first container ends well

      Examples:
        | database   |
        | SQLite     |
        | PostgreSQL |

    Scenario: Plans of one project run side by side
      Given a plan with the steps
        | step | does                            |
        | one  | runs `sleep 0.2; echo $PPID > a.txt` |
        | two  | writes b.txt                    |
      When four processes run the plan at the same time
      Then all four end well, each with its own sandbox and checkpoints
      And the project is untouched

    Scenario: Different plans of one project do not mix
      Given four plans that write files of their own in three steps
      When all four are run at the same time
      Then all four end well
      And each checkpoint brings back the files of its own plan

  Rule: the dead block nobody, those far away until their lease ends

    Scenario Outline: The holder <holder>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "before two"
      And the plan is held by <holder>
      When the user executes the plan
      Then the exit code is <code>
      And the plan is execute/<state> with <done> steps done

      Examples:
        | holder                                                   | code | state    | done |
        | a process of this home that has ended                    | 0    | complete | 2    |
        | a process of this home that was killed and not yet buried | 0    | complete | 2    |
        | a process of this home whose lease has ended             | 6    | queued   | 1    |
        | a process of another host                                | 6    | queued   | 1    |
        | a process of another host whose lease has ended          | 0    | complete | 2    |

    Scenario: Who takes a plan over does so with a higher number
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "before two"
      And the plan is held by a process of another host whose lease has ended
      When the user executes the plan
      Then the exit code is 0
      And the plan has been held 8 times

    Scenario: Looking is never blocked
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan is held by a process of another host
      When the user rehearses the rollback to "after one"
      Then the exit code is 0
      And nothing has changed
