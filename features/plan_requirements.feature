Feature: What a plan must keep and what it must reach
  A plan file can say when the work is done and what must stay true. A required validation that
  checks one of these holds the plan back; the user judges the others.

  Background:
    Given the plan
      """
      name: local/greet
      invariants:
        - {text: The readme stays, validation: readme}
        - {text: Nothing is sent anywhere}
      definition_of_done:
        - {text: The greeting exists, validation: greeting}
        - {text: The greeting reads well}
      validations:
        - {name: readme, run: test -f README.md}
        - {name: greeting, run: test -f greeting.txt}
      arguments: {name: {default: greeting.txt}}
      steps:
        - {name: one, tool: write-file, with: {path: "{{ name }}", content: "hello\n"}}
      """

  Scenario: Invariants are decisions of the plan
    Given the plan has run
    When the user looks at the plan's tree
    Then the tree is
      | depth | question             | chosen                   | type               |
      | 0     | What should be done? | local/greet              | prompt_definition  |
      | 1     | What must stay true? | The readme stays         | invariant_enforced |
      | 1     | What must stay true? | Nothing is sent anywhere | invariant_enforced |
    And the field `summary.invariants` is 2

  Scenario: Before the validations have run, everything is open
    When the user runs the plan
    Then the requirements are
      | list               | text                     | validation | status |
      | definition_of_done | The greeting exists      | greeting   | open   |
      | definition_of_done | The greeting reads well  |            | open   |
      | invariants         | The readme stays         | readme     | open   |
      | invariants         | Nothing is sent anywhere |            | open   |

  Scenario: An apply says what was checked and what the user accepted
    Given the plan has run
    When the user applies the plan
    Then the requirements are
      | list               | text                     | validation | status   |
      | definition_of_done | The greeting exists      | greeting   | met      |
      | definition_of_done | The greeting reads well  |            | accepted |
      | invariants         | The readme stays         | readme     | met      |
      | invariants         | Nothing is sent anywhere |            | accepted |

  Scenario: A criterion that is not met holds the plan back
    Given the plan has run with --arg name=other.txt
    When the user applies the plan
    Then the exit code is 4
    And the error is "The plan was not applied: `greeting` failed with status 1 (not met: The greeting exists)"
    And the status says that "The greeting exists" is not_met

  Scenario: The user is asked about what no validation checks
    Given the plan has run
    When the user answers "n" when asked to apply
    Then the user is told "No validation checks this, so you decide: The greeting reads well"
    And the user is told "No validation checks this, so you decide: Nothing is sent anywhere"

  Scenario: A correction of the whole plan keeps its invariants
    Given the plan has run
    When the user corrects the plan itself because "shorter"
    Then 2 invariants are in effect

  Scenario: An invariant itself cannot be reverted
    Given the plan has run
    When the user corrects an invariant
    Then the exit code is 2

  Scenario Outline: A requirement that cannot be: <entry>
    Given the definition of done is <entry>
    When the user makes the plan
    Then the exit code is 2
    And the message of the error ends with "<sentence>"

    Examples:
      | entry                         | sentence                               |
      | []                            | `definition_of_done` is empty          |
      | [{text: " "}]                 | `text` is empty                        |
      | [{text: a, validation: gone}] | there is no required validation `gone` |
      | [{text: a, checked: gone}]    | criterion 1 has no key `checked`       |
