Feature: The newest plan is that of the project
  `@latest` never means a plan of another project.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two
    And another project has a newer plan

  Scenario Outline: In the project, in <directory>
    When the user runs "agents plan status @latest --format json" in <directory>
    Then the plan that is shown is that of the project

    Examples:
      | directory |
      | .         |
      | src       |

  Scenario: In the other project
    When the user runs "agents plan status @latest --format json" in ../other
    Then the plan that is shown is that of the other project

  Scenario: A directory without a repository belongs to the project above it
    Given the repository of the other project is gone
    When the user runs "agents plan status @latest --format json" in ../other/below
    Then the plan that is shown is that of the other project

  Scenario: Where there are no plans
    When the user runs "agents plan status @latest" in ..
    Then the exit code is 5
    And the error output says "There is no plan `@latest` of the project "
    And the error output says "agents plan list"
