Feature: Trying a failed step again
  A plan may have its failed steps tried again, each time from the state before the step.

  Scenario: It works at the third attempt
    Given a plan with the steps
      | step | does                                                                      |
      | one  | writes a.txt                                                              |
      | two  | runs `echo x >> b.txt; echo x >> OUTSIDE/tries; test -s OUTSIDE/tries && [ $(wc -l < OUTSIDE/tries) -eq 3 ]` |
    And the plan tries a failed step 2 times more
    When the user runs the plan
    Then the exit code is 0
    And the retries were entered: 1 of 2, 2 of 2
    And the sandbox is the project after `echo by one > a.txt; echo x > b.txt`
    And the tool calls in effect are
      | step | tool       | status    |
      | 1    | write-file | succeeded |
      | 2    | shell      | succeeded |
    And the checkpoints are before execution, before one, after one, before two, failed: two, failed: two, after two, after execution

  Scenario: A retry keeps the finished steps, whichever checkpoints the configuration asks for
    Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
    And a plan with the steps
      | step | does                                                                      |
      | one  | writes a.txt                                                              |
      | two  | runs `echo x >> b.txt; echo x >> OUTSIDE/tries; [ $(wc -l < OUTSIDE/tries) -eq 3 ]` |
    And the plan tries a failed step 2 times more
    When the user runs the plan
    Then the exit code is 0
    And the sandbox is the project after `echo by one > a.txt; echo x > b.txt`
    And the tool calls in effect are
      | step | tool       | status    |
      | 1    | write-file | succeeded |
      | 2    | shell      | succeeded |

  Scenario: It never works
    Given a plan with the steps
      | step | does                            |
      | one  | runs `echo x >> b.txt; exit 3`  |
    And the plan tries a failed step 2 times more
    When the user runs the plan
    Then the failure still tells the plan's id, place and checkpoint
    And the steps that ever ran are 1, 1, 1
    And the sandbox is as it was at "before one"

  Scenario: A retry that cannot be prepared is the end of it
    Given a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    And the plan tries a failed step 2 times more
    And the disk has room for 1 snapshots
    When the user runs the plan
    Then the failure still tells the plan's id, place and checkpoint
    And the steps that ever ran are 1

  Scenario: At a terminal one sees it
    Given a plan with the steps
      | step | does         |
      | one  | runs `false` |
    And the plan tries a failed step 1 times more
    When the user runs "agents plan run ../plan.yaml"
    Then the exit code is 8
    And the error output says "Retrying (1 of 1) …"

  Scenario: A step that is done is not run again because a checkpoint after it failed
    Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "after_tool_execute,after_step"
    And a plan with the steps
      | step | does                   |
      | one  | runs `echo x >> a.txt` |
    And the plan tries a failed step 2 times more
    And the 4. look at the sandbox fails
    When the user runs the plan
    Then the exit code is 8
    And the steps that ever ran are 1
    And the sandbox is the project after `echo x > a.txt`
