Feature: Steps that are appended to a decision
  An appended correction can bring steps: those of another option, or of a plan file. They run in
  a child plan when the plan is executed, and their result becomes part of the plan's own.

  Background:
    Given a plan with a decision between a file and a database
    And the plan has run

  Scenario: The plan waits for the appended steps, and what is done stays done
    When the user appends steps from the option database
    Then the plan is execute/queued with 4 steps done
    And the correction expects the child to take some time
    And the child plan append-1 is strategize/complete with the steps write store.sql, write index.sql
    And the sandbox is as it was at "after execution"

  Scenario Outline: Executing the plan adds the result of <what>
    Given steps from <what> have been appended
    When the user executes the plan
    Then the plan is execute/complete with 5 steps done
    And the child plan append-1 is execute/complete with the steps <steps>
    And the sandbox also has <paths>, and still store.py
    And the child's spawn has a checkpoint

    Examples:
      | what                | steps                             | paths                |
      | the option database | write store.sql, write index.sql  | store.sql, index.sql |
      | a plan file         | note                              | note.txt             |

  Scenario: The child alone cannot run
    Given steps from the option database have been appended
    When the user executes the child plan
    Then the exit code is 4
    And the hint says to execute the parent

  Scenario: A cancelled child is left out
    Given steps from the option database have been appended
    And the child plan has been cancelled
    When the user executes the plan
    Then the plan is execute/complete with 5 steps done
    And the sandbox has no store.sql

  Scenario: A rollback to before it takes it back, and undoing that brings it again
    Given steps from the option database have been appended
    And the plan has been executed
    When the user rolls the plan back to "after execution" of the first run
    Then the plan is execute/complete with 4 steps done
    And after an undo the plan is execute/complete with 5 steps done

  Scenario: Correcting the decision takes it back too
    Given steps from the option database have been appended
    And the plan has been executed
    And the decision has been corrected to choose database
    When the user executes the plan
    Then the plan is execute/complete with 5 steps done
    And the child plan append-1 is execute/cancelled with the steps write store.sql, write index.sql

  Scenario: Correcting it leads back to before it
    Given steps from the option database have been appended
    And the plan has been executed
    And the appended step has been reverted
    When the user executes the plan
    Then the plan is execute/complete with 4 steps done
    And the sandbox has no store.sql

  Scenario: A run that is killed while the appended steps run is resumed
    Given steps from a plan file have been appended
    And the run of the plan is killed at child-forked
    When the user executes the plan
    Then the plan is execute/complete with 5 steps done
    And the sandbox also has note.txt, and still store.py

  Scenario Outline: Refused and without a trace: <what>
    When the user appends steps from <what>
    Then the exit code is <code>
    And nothing has changed

    Examples:
      | what                                        | code |
      | an option that the decision does not have   | 2    |
      | a plan file with an unknown resource        | 2    |
      | a plan file that needs an argument          | 2    |
      | a plan file that is not there               | 2    |
      | an option and a plan file at once           | 2    |
