@disk
Feature: A damaged mirror is repaired from the project
  The project has most objects of its mirror. Where the mirror's own copy is damaged and the
  project's is whole, the project's takes its place.

  Scenario Outline: A new plan repairs it: <damage>
    Given a project, and in its mirror <damage>
    When another plan of the project starts
    Then its sandbox has the files of the project's commit

    Examples:
      | damage                            |
      | a file's object is empty          |
      | a file's object is cut off        |
      | a file's object has other bytes   |
      | the commit's object is empty      |
      | the tree's object is empty        |
      | a pack is cut off                 |

  Scenario: Damage that the mirror shares with the project is blamed on the project
    Given a project, and in its mirror a file's object is empty, and in the project too
    When another plan of the project starts
    Then it is refused, because an object of the project is damaged

  Scenario: Damage that only the mirror has, and nothing can repair, is not blamed on the project
    Given a project, and in its mirror the branch of the plan is locked
    When another plan of the project starts
    Then it fails without blaming the project

  Scenario: The doctor repairs it
    Given a plan that wrote a.txt in step one and b.txt in step two
    And an object of its mirror is empty that the project has whole
    When the user runs "agents doctor --fix --format json"
    Then the exit code is 0
    And the doctor says it replaced 1 damaged object file
