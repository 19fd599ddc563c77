Feature: Discarding the sandbox of a plan
  Only the sandbox is removed, and only if the user says so. A rollback creates it again.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Scenario: Nobody can be asked
    When the user runs "agents plan cancel PLAN --discard" on the plan
    Then the exit code is 2
    And the error output says "Add `--yes` to continue without being asked"
    And the error output does not say "--dry-run"
    And the plan is execute/complete with 2 steps done

  Scenario: The answer is no
    Given the user sits before a terminal
    When the user answers "n" to discarding the plan
    Then the exit code is 1
    And the error output says "Discarding would remove the sandbox, with 2 files"
    And the plan is execute/complete with 2 steps done

  Scenario: The answer is yes
    Given the user sits before a terminal
    When the user answers "y" to discarding the plan
    Then the output says "discarded; the checkpoints are kept"
    And the sandbox is gone

  Scenario: A plan that was cancelled before
    Given the plan was cancelled, and its sandbox kept
    When the user runs "agents plan cancel PLAN --discard --yes" on the plan
    Then the exit code is 0
    And the sandbox is gone

  Scenario: Discarding twice asks nothing
    Given the plan was discarded
    When the user runs "agents plan cancel PLAN --discard" on the plan
    Then the exit code is 0

  Scenario: A rollback creates the sandbox again
    Given the plan was discarded
    When the user rolls the plan back to "after one"
    Then the sandbox is as it was at "after one"
    And the plan is execute/queued with 1 steps done
