Feature: What the documents say about a plan
  Every field has a meaning: it is true, or it is not there.

  Scenario: A plan that was only made has not started
    Given a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    When the user makes the plan
    Then the JSON document has
      | field                 | value                                                                    |
      | data.timing.elapsed   | null                                                                     |
      | data.timing.eta       | null                                                                     |
      | data.started          | null                                                                     |
      | data.inputs           | {}                                                                       |
      | data.strategy_summary | {"steps": 1, "decisions": 0, "invariants": 0, "planned_child_plans": 0} |
    And the next steps are the commands of `next`

  Scenario: A plan that has run says how long that took
    Given a plan with the steps
      | step | does             |
      | one  | runs `sleep 0.2` |
      | two  | writes a.txt     |
    When the user runs the plan
    Then the elapsed time is that from the start to the end
    And the labels of the progress are "Strategize, Execute: 2 of 2 steps, Apply"
    And no end is expected

  Scenario: A plan that runs says when it is expected to end
    Given a plan whose second of four steps waits for the user
    When the user asks for the status while it waits
    Then the elapsed time grows, and an end is expected

  Scenario: The list says how long plans took
    Given a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    And the plan has been made
    And the plan has run
    When the user lists the plans with --no-input
    Then one plan has not started and the other took some time

  Scenario: A strategy counts decisions and child plans
    Given the plan
      """
      name: local/all
      steps:
        - decision:
            question: Where?
            chosen: here
            options: {here: {}, there: {}}
        - subplans: {plans: {a: {steps: [{tool: shell, with: {command: "true"}}]}}}
      """
    When the user makes the plan
    Then the JSON document has
      | field                 | value                                                                   |
      | data.strategy_summary | {"steps": 2, "decisions": 1, "invariants": 0, "planned_child_plans": 1} |

  Scenario: The reasoning behind a decision is shown on request
    Given a plan whose decision comes with a reasoning
    When the user asks for an explanation with "--show-reasoning --format json"
    Then the JSON document has
      | field                | value                              |
      | data.actor_reasoning | "Files need no server.\nWe have none." |

  Scenario: Without a request the reasoning is left out
    Given a plan whose decision comes with a reasoning
    When the user asks for an explanation with "--format json"
    Then the document has no field `actor_reasoning`

  Scenario: People see the reasoning too
    Given a plan whose decision comes with a reasoning
    When the user asks for an explanation with "--show-reasoning --format table"
    Then the output says "Files need no server."

  Scenario: A failure that left the sandbox as the policy wants it can be recovered from
    Given a plan with the steps
      | step | does          |
      | one  | runs `exit 3` |
    When the user runs the plan
    Then the plan's failure can be recovered from

  Scenario: A failure whose sandbox could not be restored says so
    Given a plan with the steps
      | step | does                                      |
      | one  | runs `cd / && rm -rf "$OLDPWD" && exit 3` |
    When the user runs the plan
    Then the plan's failure cannot be recovered from

  Scenario: A checkpoint's record has no list of calls that is always empty
    Given a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    When the user runs the plan
    Then no record of a checkpoint has `tool_calls`
