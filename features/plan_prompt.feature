Feature: Guidance for a plan
  The user can say something for whatever a plan does next. It is a decision of the user's own;
  nothing goes back because of it, and no run forgets it.

  Scenario: It is recorded, and waits for the next run
    Given a plan that wrote a.txt in step one and b.txt in step two
    When the user tells the plan "keep the old names"
    Then the exit code is 0
    And the guidance is 1 pending and 0 applied
    And the decisions that stand are What should be done?, What guidance applies from here on?
    And the sandbox is as it was at "after execution"
    And the plan is execute/complete with 2 steps done

  Scenario: A run that begins later has heard it
    Given a plan with the steps
      | step | does          |
      | one  | writes a.txt  |
      | two  | runs `exit 3` |
    And the plan has failed
    And the plan has the guidance "do not fail"
    And the plan has been rolled back to "before execution"
    And the plan has the guidance "begin again"
    And the plan has failed again
    When the user tells the plan "and again"
    Then the guidance is 1 pending and 1 applied

  Scenario: Continuing after a failure keeps it
    Given a plan with the steps
      | step | does                   |
      | one  | writes a.txt           |
      | two  | runs `test -e OUTSIDE/fixed` |
    And the plan has failed
    And the plan has the guidance "do not fail"
    And the cause of the failure has been fixed
    When the user resumes the plan
    Then the decisions that stand are What should be done?, What guidance applies from here on?

  Scenario Outline: <what> is refused
    Given a plan with the steps
      | step | does          |
      | one  | runs `exit 3` |
    And the plan was cancelled
    When the user tells the plan "<text>"
    Then the exit code is <code>
    And nothing has changed

    Examples:
      | what             | text | code |
      | a cancelled plan | hey  | 4    |
      | saying nothing   |      | 2    |
