Feature: Giving a plan up, and what can be done about a failure
  A cancelled plan keeps its sandbox and its checkpoints. A failed one tells what can be done.

  Background:
    Given a plan with the steps
      | step | does                                                    |
      | one  | writes a.txt                                            |
      | two  | runs `echo half > b.txt; echo oh no; test -e OUTSIDE/fixed` |

  Rule: cancelling takes nothing away

    Scenario: A failed plan
      Given the plan has failed
      When the user cancels the plan because "the other approach won"
      Then the exit code is 0
      And the plan is execute/cancelled with 1 steps done
      And the sandbox is as it was at "before two"
      And the document's reason is "the other approach won"
      And the document counts 1 changed files and 0 that subplans keep

    Scenario: A plan that never ran
      Given the plan has been made
      When the user cancels the plan
      Then the plan is strategize/cancelled with 0 steps done

    Scenario: A cancelled plan does not run
      Given the plan was cancelled
      When the user executes the plan
      Then it is refused with the code 4 and the sentence A plan in execute/cancelled cannot execute

    Scenario: A rollback takes it up again
      Given the plan was cancelled
      When the user rolls the plan back to "after one"
      Then the plan is execute/queued with 1 steps done

    Scenario: Twice is refused
      Given the plan was cancelled
      When the user cancels the plan
      Then it is refused with the code 4 and the sentence A plan in execute/cancelled cannot be cancelled

    Scenario: A plan that another process executes is stopped first
      Given a plan with the steps
        | step | does                                                      |
        | one  | writes a.txt                                              |
        | two  | runs `echo half > b.txt; touch OUTSIDE/begun; sleep 1000` |
      And the plan has been made
      And another process is executing the plan
      When the user cancels the plan
      Then the exit code is 0
      And the plan is execute/cancelled with 1 steps done
      And the other process was interrupted

    Scenario: Not while a process of another host works on it
      Given the plan has failed
      And the plan is held by a process of another host
      When the user cancels the plan
      Then the exit code is 6

  Rule: a failure tells what can be done

    Scenario: What went wrong, and the ways out
      Given the plan has failed
      When the user asks for the plan's errors
      Then the failed calls are
        | step_index | tool  | says  |
        | 1          | shell | oh no |
      And the ways out are inspect, resume, revert, cancel

    Scenario: The failed state can be inspected by the command it names
      Given the plan has failed
      When the user runs the command of the way out "inspect"
      Then the files that differ are
        | path  | status | change |
        | b.txt | added  | +1 -0  |

    Scenario: A plan that is well has no errors
      Given the plan has succeeded
      When the user asks for the plan's errors
      Then there are no failed calls and no ways out
