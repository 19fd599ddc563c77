Feature: Subplans that the user cancels
  A child that the user has cancelled is neither run nor tried again by its parent.

  Background:
    Given a plan whose subplans run parallel
      | subplan | does                                                                         |
      | first   | runs `echo first >> OUTSIDE/runs; echo 1 > first.txt; test -f OUTSIDE/fixed` |
      | second  | runs `echo second >> OUTSIDE/runs; echo 2 > second.txt`                       |
      | third   | runs `echo third >> OUTSIDE/runs; echo 3 > third.txt`                         |
    And its subplans have `max_parallel` 1

  Rule: the step fails and says why

    Scenario: The other children keep their work
      Given the cause of the failure has been fixed
      When the user runs the plan and cancels second while first runs
      Then the error is "Step 2 of 3 (`middle`) failed: subplan `second` failed: it was cancelled (not needed)"
      And the runs were first third
      And the subplans are
        | subplan | state                |
        | first   | execute/complete     |
        | second  | strategize/cancelled |
        | third   | execute/complete     |

    Scenario: A plan that fails fast starts no other child
      Given the cause of the failure has been fixed
      And its subplans have `fail_fast` true
      When the user runs the plan and cancels second while first runs
      Then the error is "Step 2 of 3 (`middle`) failed: subplan `second` failed: it was cancelled (not needed)"
      And the runs were first
      And the subplans are
        | subplan | state                |
        | first   | execute/complete     |
        | second  | strategize/cancelled |
        | third   | strategize/cancelled |

    Scenario: Another child makes the plan fail fast
      Given its subplans have `fail_fast` true
      And its subplans have `retry_failed` false
      When the user runs the plan and cancels second while first runs
      Then the error is "Step 2 of 3 (`middle`) failed: subplan `first` failed: `shell` failed with status 1"
      And the subplans are
        | subplan | state                |
        | first   | execute/errored      |
        | second  | strategize/cancelled |
        | third   | strategize/cancelled |
