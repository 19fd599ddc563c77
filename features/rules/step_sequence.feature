Feature: The steps that a plan runs
  A decision is followed by the steps of the option it chooses.

  Scenario Outline: Another choice changes only the steps after the decision
    Given a plan file
      """
      name: local/storage
      steps:
        - {name: prepare, tool: shell, with: {command: "true"}}
        - decision:
            question: Where
            chosen: file
            options:
              file:
                steps:
                  - {name: write, tool: shell, with: {command: "true"}}
              database:
                steps:
                  - {name: create, tool: shell, with: {command: "true"}}
                  - {name: insert, tool: shell, with: {command: "true"}}
        - {name: finish, tool: shell, with: {command: "true"}}
      """
    When a plan that took the option file takes the option <option> instead
    Then its steps are <steps>

    Examples:
      | option   | steps                                                                            |
      | file     | 0 prepare, 1 Where, 1/file/0 write, 2 finish                                     |
      | database | 0 prepare, 1 Where, 1/database/0 create, 1/database/1 insert, 2 finish           |
