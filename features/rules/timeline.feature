Feature: Which checkpoints are on the way to the present
  A rollback sets aside what is later than its target. A target that was set aside, or is the state
  a rollback started from, brings back what was on the way to it.

  Scenario Outline: From <groups> to <target>
    Given the groups <groups>, where "B*R" means that rollback R went past B
    And the rollbacks <rollbacks>, where "R:S" means that R started from S
    When a rollback goes to <target>
    Then it sets aside <aside> and brings back <back>

    Examples: back
      | groups      | rollbacks | target | aside   | back    |
      | A B C       | none      | A      | B C     | nothing |
      | A B C       | none      | C      | nothing | nothing |
      | A B*R C*R S | R:S       | A      | S       | nothing |

    Examples: and forward again
      | groups        | rollbacks | target | aside   | back    |
      | A B*R C*R S   | R:S       | S      | nothing | B C     |
      | A B*R C*R S   | R:S       | B      | S       | B       |
      | A B*R C*R S   | R:S       | C      | S       | B C     |
      | A B*R C*R S D | R:S       | S      | D       | B C     |
      | A B*R C*Q S T | R:S Q:T   | S      | T       | B       |

    Examples: a rollback that was undone brings nothing back
      | groups  | rollbacks | target | aside   | back    |
      | A B C S | R:S?      | S      | nothing | nothing |
      | A B C S | R:S?      | A      | B C S   | nothing |
