Feature: Applying to projects in unusual places
  Where a project is and how it is called makes no difference.

  Scenario: A name with a line break
    Given the project's directory is called `my\nshop`
    And a plan that ran `echo new > new.txt` after the user ran `true`
    When the user applies the plan
    Then the project's files are those of the sandbox
    And git says in the project
      | command                | expected              |
      | git log -1 --format=%s | Apply plan local/shop |
      | git status --porcelain |                       |

  Scenario: A directory inside the repository
    Given a plan that ran `echo new > new.txt` was started in the directory src
    When the user applies the plan
    Then the project's files are those of the sandbox
    And git says in the project
      | command                | expected              |
      | git log -1 --format=%s | Apply plan local/shop |
      | git status --porcelain |                       |

  Scenario: A repository whose git directory is elsewhere
    Given the project's git directory is elsewhere
    And a plan that ran `echo new > new.txt` after the user ran `true`
    When the user applies the plan
    Then the project's files are those of the sandbox
    And git says in the project
      | command                | expected              |
      | git log -1 --format=%s | Apply plan local/shop |
      | git status --porcelain |                       |
