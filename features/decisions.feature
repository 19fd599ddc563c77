Feature: Decisions
  A plan says at each fork which way it takes and why. The tree of these decisions can be looked
  at, and each has a checkpoint of everything the plan may change.

  Background:
    Given the plan
      """
      name: local/greetings
      description: Keeps greetings
      arguments: {where: {default: file}}
      steps:
        - {name: begin, tool: write-file, with: {path: a.txt, content: a}}
        - name: where greetings live
          decision:
            question: Where do greetings live?
            chosen: "{{ where }}"
            rationale: no server needed
            confidence: 0.8
            options:
              file:
                description: a module with a list
                steps:
                  - {name: keep, tool: write-file, with: {path: store.py, content: x}, save_as: place}
                  - name: which format
                    decision:
                      question: Which format?
                      chosen: text
                      options:
                        text: {steps: [{tool: write-file, with: {path: list.txt, content: hi}}]}
                        binary: {steps: [{tool: write-file, with: {path: list.bin, content: hi}}]}
              database:
                steps:
                  - {name: keep, tool: write-file, with: {path: store.sql, content: y}, save_as: place}
        - {name: tell, tool: write-file, with: {path: told.txt, content: "{{ outputs.place }}"}}
      """

  Rule: the steps of the chosen option run, and no others

    Scenario: The option that the file chooses
      When the user runs the plan
      Then the exit code is 0
      And the sandbox is the project after `printf a > a.txt; printf x > store.py; printf hi > list.txt; printf 'Wrote 1 byte to store.py' > told.txt`
      And the plan is execute/complete with 6 steps done

    Scenario: The option that an argument chooses
      When the user runs the plan with --arg where=database
      Then the exit code is 0
      And the sandbox is the project after `printf a > a.txt; printf y > store.sql; printf 'Wrote 1 byte to store.sql' > told.txt`

    Scenario: An option that is not there is refused before anything runs
      When the user makes the plan with --arg where=moon
      Then it is refused with the code 2 and the sentence The decision `where greetings live` has no option `moon`

  Rule: every decision is recorded with a group of checkpoints

    Scenario: Whatever the configuration says
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      When the user runs the plan
      Then the checkpoints are before execution, decided: where greetings live, decided: which format, after execution
      And the checkpoint "decided: where greetings live" belongs to the decision "Where do greetings live?"
      And the checkpoint "decided: where greetings live" holds the project after `printf a > a.txt`

    Scenario: The tree shows them under the one they depend on
      Given the plan has run
      When the user looks at the plan's tree
      Then the tree is
        | depth | question                 | chosen          | type                  |
        | 0     | What should be done?      | Keeps greetings | prompt_definition     |
        | 1     | Where do greetings live? | file            | implementation_choice |
        | 2     | Which format?            | text            | implementation_choice |

    Scenario: A decision can be explained
      Given the plan has run
      When the user asks for an explanation of "Where do greetings live?"
      Then the explanation says
        | field      | value                |
        | chosen     | file                 |
        | rationale  | no server needed     |
        | confidence | 0.8                  |
        | sequence   | 2 of 3               |
        | artifacts  | list.txt, store.py   |
        | downstream | 1                    |

  Rule: what was rolled back is no longer in effect

    Scenario: A rollback past a decision
      Given the plan has run
      When the user rolls the plan back to "after begin"
      Then the decisions that stand are What should be done?
      And the report says that 2 decisions were discarded

    Scenario: Running on from there makes it again
      Given the plan has run
      And the plan has been rolled back to "after begin"
      When the user executes the plan
      Then the exit code is 0
      And the decisions that stand are What should be done?, Where do greetings live?, Which format?
      And the tree with what is superseded has 5 decisions

    Scenario: A rollback to the checkpoint of a decision keeps the decision
      Given the plan has run
      When the user rolls the plan back to "decided: where greetings live"
      Then the decisions that stand are What should be done?, Where do greetings live?
