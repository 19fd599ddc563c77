Feature: A database server that is far away
  Statements for a server are sent together, so that few answers have to be waited for.

  Scenario: A checkpoint takes four round trips
    Given a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    When it has been run with its records on a far server, and a checkpoint is taken
    Then the checkpoint took 4 round trips

  Scenario: A statement that nobody waits for fails
    Given a database in PostgreSQL that is in use
    When a program changes all plans, and then runs a wrong statement before it commits
    Then it is refused with exit code 1: column "nothing"
    And no plan has changed
