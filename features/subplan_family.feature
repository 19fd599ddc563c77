Feature: What is done to a plan reaches its subplans
  Cancelling, rolling back and applying a plan reach down to the plans it has spawned.

  Background:
    Given a plan whose subplans run parallel
      | subplan | does             |
      | docs    | writes docs.txt  |
      | tests   | writes tests.txt |

  Rule: going back past the spawn gives the children up

    Scenario: A rollback cancels them
      Given the plan has run
      When the user rolls the plan back to "before subplan docs"
      Then the exit code is 0
      And the subplans are
        | subplan | state             |
        | docs    | execute/cancelled |
        | tests   | execute/cancelled |
      And the sandbox is the project after `echo begin > begin.txt`

    Scenario: Executed again, there are new ones
      Given the plan has run
      And the plan has been rolled back to "before subplan docs"
      When the user executes the plan
      Then the exit code is 0
      And the plan has 4 subplans
      And the sandbox is the project after `echo begin > begin.txt; echo by docs > docs.txt; echo by tests > tests.txt; echo end > end.txt`

    Scenario: An undo brings them back
      Given the plan has run
      And the plan has been rolled back to "before subplan docs"
      When the user undoes the last operation
      Then the subplans are
        | subplan | state            |
        | docs    | execute/complete |
        | tests   | execute/complete |
      And the sandbox is the project after `echo begin > begin.txt; echo by docs > docs.txt; echo by tests > tests.txt; echo end > end.txt`

    Scenario: Going back to after the spawn keeps them, and merges them again
      Given the plan has run
      And the plan has been rolled back to "spawned: docs, tests"
      When the user executes the plan
      Then the exit code is 0
      And the plan has 2 subplans
      And the sandbox is the project after `echo begin > begin.txt; echo by docs > docs.txt; echo by tests > tests.txt; echo end > end.txt`

    Scenario Outline: While a child is worked on, its parent is not <done>
      Given the plan has run
      And another process works on the subplan docs
      When the user <does>
      Then it is refused with the code 6 and the sentence Plan OTHER is held by process LIVING on HOST (`agents plan execute`)

      Examples:
        | done        | does                                             |
        | rolled back | rolls the plan back to "before subplan docs"     |
        | cancelled   | cancels the plan                                 |

  Rule: so does cancelling

    Scenario: Children that have not been merged are cancelled with their parent
      Given its first subplan fails
      And the plan has failed
      When the user cancels the plan because "no time"
      Then the exit code is 0
      And the subplans are
        | subplan | state             |
        | docs    | execute/cancelled |
        | tests   | execute/cancelled |
      And the document counts 1 changed files and 1 that subplans keep

  Rule: children are applied with their parent

    Scenario: The result of all is in the project, and their sandboxes go by the same policy
      Given sandboxes are removed on_apply
      And the plan has run
      When the user applies the plan
      Then the exit code is 0
      And the subplans are
        | subplan | state         |
        | docs    | apply/applied |
        | tests   | apply/applied |
      And the subplans' sandboxes are gone

    Scenario: Alone they are not
      Given the plan has run
      When the user applies the subplan docs
      Then it is refused with the code 4 and the sentence Plan OTHER is part of plan PLAN and is applied with it
      And nothing has changed

  Rule: the looking commands tell which plan made what

    Scenario: Artifacts name the child
      Given the plan has run
      When the user asks for the artifacts
      Then the artifacts made by subplans are
        | path      | subplan |
        | docs.txt  | docs    |
        | tests.txt | tests   |

    Scenario: Lists are not full of children
      Given the plan has run
      When the user lists the plans with --phase execute
      Then the plans listed are shop

    Scenario: Unless they are asked for
      Given the plan has run
      When the user lists the plans with --subplans
      Then the plans listed are shop, shop.docs, shop.tests

    Scenario: The tree and the status tell of the children
      Given the plan has run
      When the user asks for the tree of @latest
      Then the child plans in the report are local/shop.docs, local/shop.tests
