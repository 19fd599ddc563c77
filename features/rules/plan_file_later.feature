Feature: What this version cannot run yet
  The full format is recognised, and what cannot be done yet is refused, never ignored.

  Scenario Outline: A step is for a later version
    Given a plan file with the step `<step>`
    When the plan file is read
    Then the file is refused on line 3 because <what> are not supported by this version yet

    Examples:
      | step                                    | what               |
      | {name: both, subplans: {plans: {}}}     | `subplans` steps   |
      | {tool: spawn-subplan, with: {plan: x}}  | `spawn-subplan` steps |
