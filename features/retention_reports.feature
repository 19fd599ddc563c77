Feature: Whoever loses checkpoints is told
  The limit drops checkpoints without asking, so the user is told how many, and how to keep more.

  Scenario: At the end of a run
    Given a plan may keep 2 checkpoints
    And a plan with the steps
      | step | does         |
      | one  | writes a.txt |
      | two  | writes b.txt |
    When the user runs the plan
    Then the messages are Plan complete; 2 older checkpoints were dropped: a plan keeps 2 different states. Run `agents config set sandbox.checkpoint.max-checkpoints-per-plan NUMBER` to keep more
    And the document counts 2 dropped checkpoints

  Scenario Outline: In `agents <command>`
    Given a plan may keep 1 checkpoints
    And a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    And the plan has run
    When the user runs "agents <command> @latest --format json"
    Then the messages are 2 older checkpoints were dropped: a plan keeps 1 different state. Run `agents config set sandbox.checkpoint.max-checkpoints-per-plan NUMBER` to keep more

    Examples:
      | command              |
      | plan status          |
      | plan checkpoint list |

  Scenario: A plan that lost nothing says nothing
    Given a plan may keep 3 checkpoints
    And a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    When the user runs the plan
    Then the messages are Plan complete
    And the document counts 0 dropped checkpoints

  Scenario: When a new checkpoint pushes others out
    Given a plan may keep 2 checkpoints
    And a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    And the plan has run
    And the user has changed the sandbox by `echo mine > a.txt`
    When the user makes a checkpoint "now"
    Then the messages are Checkpoint created; 2 older checkpoints were dropped: a plan keeps 2 different states. Run `agents config set sandbox.checkpoint.max-checkpoints-per-plan NUMBER` to keep more

  Scenario: A new checkpoint that pushes nothing out says nothing of what went before
    Given a plan may keep 1 checkpoints
    And a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    And the plan has run
    When the user makes a checkpoint "now"
    Then the messages are Checkpoint created
