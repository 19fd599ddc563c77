Feature: How many plans run at the same time
  `plan.concurrency` limits how many plans run with one home directory. The others wait, and say
  for whom.

  Background:
    Given a plan whose second of four steps waits for the user
    And the variable CLEVERAGENTS_PLAN_CONCURRENCY is "1"

  Scenario: A plan waits for its turn
    Given another process runs the plan
    And a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    When the user runs the plan, and lets the other one go on once it waits
    Then both plans are complete, the other one first
    And the user was told "`plan.concurrency` lets 1 plan run at a time"

  Scenario: A wait that takes too long ends as busy
    Given another process runs the plan
    And nobody waits for long
    When the user runs the plan here
    Then the exit code is 6
    And the message of the error begins with "`plan.concurrency` lets 1 plan run at a time, and others are running: process"

  Scenario: Subplans run in the turn of their plan
    Given a plan with a subplan on the project
    When the user runs the plan
    Then the exit code is 0

  Scenario: A killed process leaves no turn taken
    Given another process runs the plan
    And that process is killed
    And a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    When the user runs the plan
    Then the exit code is 0

  Scenario: Without a limit nobody waits
    Given the variable CLEVERAGENTS_PLAN_CONCURRENCY is gone again
    And another process runs the plan
    And a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    When the user runs the plan
    Then the exit code is 0
