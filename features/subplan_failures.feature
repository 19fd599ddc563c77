Feature: Subplans that fail
  A child that fails is tried again as often as the plan says; then the step fails, and what the
  other children made is kept for when the plan continues.

  Rule: the others' work is kept

    Scenario: The other children run to their end, and nothing of the wave is merged
      Given a plan whose subplans run parallel
        | subplan | does                                            |
        | bad     | runs `echo bad >> OUTSIDE/runs; test -f OUTSIDE/fixed && echo b > bad.txt` |
        | good    | runs `echo good >> OUTSIDE/runs; echo g > good.txt` |
      And its subplans have `retry_failed` false
      When the user runs the plan
      Then the exit code is 8
      And the error is "Step 2 of 3 (`middle`) failed: subplan `bad` failed: `shell` failed with status 1"
      And the subplans are
        | subplan | state            |
        | bad     | execute/errored  |
        | good    | execute/complete |
      And the sandbox is the project after `echo begin > begin.txt`
      And the runs were bad good

    Scenario: Once fixed, only the failed child runs again
      Given a plan whose subplans run parallel
        | subplan | does                                            |
        | bad     | runs `echo bad >> OUTSIDE/runs; test -f OUTSIDE/fixed && echo b > bad.txt` |
        | good    | runs `echo good >> OUTSIDE/runs; echo g > good.txt` |
      And its subplans have `retry_failed` false
      And the plan has failed
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the exit code is 0
      And the runs were bad good bad
      And the sandbox is the project after `echo begin > begin.txt; echo b > bad.txt; echo g > good.txt; echo end > end.txt`

    Scenario: A plan that is rolled back as a whole gives its children up
      Given a plan whose subplans run parallel
        | subplan | does            |
        | bad     | runs `exit 1`   |
        | good    | writes good.txt |
      And its subplans have `retry_failed` false
      And on failure the plan is to rollback-plan
      When the user runs the plan
      Then the subplans are
        | subplan | state             |
        | bad     | execute/cancelled |
        | good    | execute/cancelled |

    Scenario: Sequential children after a failed one do not begin
      Given a plan whose subplans run sequential
        | subplan | does            |
        | bad     | runs `exit 3`   |
        | good    | writes good.txt |
      And its subplans have `retry_failed` false
      When the user runs the plan
      Then the exit code is 8
      And the subplans are
        | subplan | state           |
        | bad     | execute/errored |

    Scenario: What was merged before a failure is not done again
      Given a plan whose subplans run sequential
        | subplan | does                                                                                |
        | first   | runs `echo first >> OUTSIDE/runs; echo f > first.txt`                               |
        | second  | runs `echo second >> OUTSIDE/runs; test -f OUTSIDE/fixed && cp first.txt second.txt` |
      And its subplans have `retry_failed` false
      And the plan has failed
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the runs were first second second
      And the sandbox is the project after `echo begin > begin.txt; echo f > first.txt; echo f > second.txt; echo end > end.txt`

  Rule: failing fast, trying again, and a limit of time

    Scenario: A failed child is tried again
      Given a plan whose subplans run parallel
        | subplan | does                                                                        |
        | bad     | runs `echo bad >> OUTSIDE/runs; test $(wc -l < OUTSIDE/runs) = 3 && echo b > bad.txt` |
      When the user runs the plan
      Then the exit code is 0
      And the runs were bad bad bad

    Scenario: As often as the plan says, and no more
      Given a plan whose subplans run parallel
        | subplan | does                                   |
        | bad     | runs `echo bad >> OUTSIDE/runs; exit 1` |
      And its subplans have `max_retries` 1
      When the user runs the plan
      Then the exit code is 8
      And the runs were bad bad

    Scenario: Failing fast cancels what waits, and discards what was still running
      Given a plan whose subplans run parallel
        | subplan | does                                                                       |
        | bad     | runs `while ! test -f OUTSIDE/slow; do sleep 0.05; done; exit 1`           |
        | slow    | runs `touch OUTSIDE/slow; sleep 1; echo s > slow.txt`                      |
        | waiting | writes waiting.txt                                                         |
      And its subplans have `max_parallel` 2
      And its subplans have `fail_fast` true
      And its subplans have `retry_failed` false
      When the user runs the plan
      Then the exit code is 8
      And the subplans are
        | subplan | state                |
        | bad     | execute/errored      |
        | slow    | execute/cancelled    |
        | waiting | strategize/cancelled |

    Scenario: After failing fast and a fix, those that were cancelled are spawned again
      Given a plan whose subplans run parallel
        | subplan | does                                                       |
        | bad     | runs `test -f OUTSIDE/fixed && echo b > bad.txt`          |
        | waiting | writes waiting.txt                                         |
      And its subplans have `max_parallel` 1
      And its subplans have `fail_fast` true
      And its subplans have `retry_failed` false
      And the plan has failed
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the sandbox is the project after `echo begin > begin.txt; echo b > bad.txt; echo by waiting > waiting.txt; echo end > end.txt`

    Scenario: A child that takes too long is ended
      Given a plan whose subplans run parallel
        | subplan | does                                  |
        | slow    | runs `touch OUTSIDE/begun; sleep 600` |
      And its subplans have `timeout_per_subplan_seconds` 60
      And its subplans have `retry_failed` false
      And that time is over as soon as OUTSIDE/begun is there
      When the user runs the plan
      Then the exit code is 8
      And the error is "Step 2 of 3 (`middle`) failed: subplan `slow` failed: it took longer than its parent allows"
      And the subplans are
        | subplan | state           |
        | slow    | execute/errored |

    Scenario: A child that does not end when it is asked to is killed
      Given a plan whose subplans run parallel
        | subplan | does                                                    |
        | stopped | runs `kill -STOP $PPID; touch OUTSIDE/begun; sleep 600` |
      And its subplans have `timeout_per_subplan_seconds` 60
      And its subplans have `retry_failed` false
      And every wait for a child is over as soon as OUTSIDE/begun is there
      When the user runs the plan
      Then the exit code is 8
      And the error is "Step 2 of 3 (`middle`) failed: subplan `stopped` failed: it took longer than its parent allows"

    Scenario: A child that has no time to begin is ended
      Given a plan whose subplans run parallel
        | subplan | does             |
        | late    | runs `sleep 600` |
      And its subplans have `timeout_per_subplan_seconds` 60
      And its subplans have `retry_failed` false
      And every wait for a child is over at once
      When the user runs the plan
      Then the exit code is 8
      And the error is "Step 2 of 3 (`middle`) failed: subplan `late` failed: it took longer than its parent allows"

    Scenario: A child whose process dies continues when it is tried again
      Given a plan whose subplans run parallel
        | subplan | does                                                                                   |
        | dies    | runs `echo 1 >> OUTSIDE/runs`                                                          |
        | dies    | runs `echo 2 >> OUTSIDE/runs; test $(wc -l < OUTSIDE/runs) -gt 2 \|\| kill -9 $PPID; echo d > dies.txt` |
      When the user runs the plan
      Then the exit code is 0
      And the runs were 1 2 2
      And dies.txt in the sandbox is `d\n`
