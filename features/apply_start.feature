Feature: What a plan started from
  A plan's changes are the difference between what it started from and what it left. What it
  started from is kept by itself, so that no checkpoint has to stay for it.

  Scenario: The limit has dropped the first checkpoint
    Given the variable CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN is "1"
    And a plan that ran `echo new > new.txt; rm src/app.py` after the user ran `true`
    When the user applies the plan
    Then the project's files are those of the sandbox

  Scenario: The user has deleted the first checkpoint, and reclaimed the space
    Given a plan that ran `echo new > new.txt; rm src/app.py` after the user ran `true`
    And the user has deleted the checkpoint "before execution" and reclaimed the space
    When the user applies the plan
    Then the project's files are those of the sandbox

  Scenario: A directory and a database
    Given the variable CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN is "1"
    And a plan with a decision that has changed a repository, a directory and a database
    When the user applies the plan
    Then the directory and the database are those of the sandboxes

  Scenario: No checkpoint of the plan could be stored
    Given a plan that ran `echo new > new.txt` after the user ran `true`
    And the plan's record names no checkpoint
    When the user applies the plan
    Then it is refused with the code 4 and the sentence Plan PLAN has no checkpoint, so what it changed is unknown

  Scenario: An earlier version made the plan
    Given a plan that ran `echo new > new.txt; rm src/app.py` after the user ran `true`
    And the store was written by a version that did not keep what plans started from
    When the user applies the plan
    Then the project's files are those of the sandbox
