Feature: Several home directories with one database
  A server may hold the records of several homes. Every sandbox is recorded with the home that it
  belongs to, and no other home changes it.

  Background:
    Given the settings name a new database of a PostgreSQL server
    And a plan that ran with its records on a server

  Scenario Outline: Another home refuses to <act> the plan
    Given another home directory is used from now on
    When the user runs "agents plan <command> --yes" for that plan
    Then the exit code is 4
    And the error has the code other_home and names what helps
    And the sandbox of the plan is as it was

    Examples:
      | act       | command             |
      | roll back | rollback PLAN FIRST |
      | cancel    | cancel PLAN         |
      | apply     | apply PLAN          |

  Scenario Outline: <command> in another home leaves the plan alone
    Given another home directory is used from now on
    When the user runs "agents <command>"
    Then the exit code is 0
    And the sandbox of the plan is as it was

    Examples:
      | command      |
      | gc           |
      | doctor --fix |

  Scenario: A copy of the home is another home
    Given a copy of the home of the plan is used
    And the installation of the copy has been fixed
    When the user runs "agents plan cancel PLAN --discard --yes" for that plan
    Then the exit code is 4
    And the error has the code other_home and names what helps
    And the sandbox of the plan is as it was

  Scenario: A moved home keeps its plans
    Given the home directory has been moved
    When the user runs "agents plan rollback PLAN FIRST --yes" for that plan
    Then the exit code is 0
