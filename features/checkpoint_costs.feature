@disk
Feature: What the agent's own commits cost a checkpoint
  Git does not sync what it stores, so a checkpoint makes the agent's new objects durable. That must
  cost only what is new: processes, syncs and objects are counted, not time.

  Scenario: A checkpoint after a commit stores and syncs what that commit brought, not what came before
    Given a watched sandbox
    When the agent commits one file after the other, with a checkpoint after each
    Then the checkpoints cost the same processes, syncs and objects

  Scenario: A checkpoint without a new commit costs the same as one in a sandbox without any
    Given a watched sandbox
    When there is a checkpoint of a changed file before the agent commits, and another one after
    Then the checkpoints cost the same processes, syncs and objects
    And no process was started for them

  Scenario: Nothing is synced, stored or started for a checkpoint of nothing new
    Given a watched sandbox
    When there is a checkpoint of nothing new after the agent committed
    Then it cost nothing
