Feature: A resource without isolation
  With `require_sandbox: false` a plan may work on a resource itself. Nothing of it is kept,
  and every attempt to take something back says so.

  Background:
    Given a directory without isolation

  Scenario: A snapshot admits that it is empty
    When a snapshot of it is made
    Then the snapshot says that nothing is kept

  Scenario Outline: Nothing can be done to <act> one
    When somebody wants to <act> that snapshot
    Then it says with exit code 4 that the strategy keeps nothing

    Examples:
      | act     |
      | restore |
      | preview |
      | verify  |
      | compare |
      | combine |
      | place   |

  Scenario: What changed in it is unknown
    When somebody asks what changed in it
    Then nothing is said to have changed

  Scenario: The resource is never removed, and missed when it has gone
    When its sandbox is removed and then its directory goes
    Then neither a check nor a snapshot finds it
