Feature: The strategy of resources whose plan names none
  `sandbox.strategy` is the user's choice where a plan makes none and the type of the resource
  allows it.

  Scenario Outline: With <value>, a directory has <directory>
    Given a plan on the repository and a directory beside it
    And the variable CLEVERAGENTS_SANDBOX_STRATEGY is "<value>"
    When the user makes the plan
    Then the stored strategies are "project git_worktree, assets <directory>"

    Examples:
      | value           | directory       |
      | git_worktree    | filesystem_copy |
      | filesystem_copy | filesystem_copy |
      | overlay         | overlay         |

  Scenario: What the plan says comes first
    Given a plan on the repository and a directory beside it, which will be copied
    And the variable CLEVERAGENTS_SANDBOX_STRATEGY is "overlay"
    When the user makes the plan
    Then the stored strategies are "project git_worktree, assets filesystem_copy"

  Scenario: Nothing is left without a sandbox that the plan requires
    Given a plan on the repository and a directory beside it
    And the variable CLEVERAGENTS_SANDBOX_STRATEGY is "none"
    When the user makes the plan
    Then it is refused with the code 4 and the sentence PROJECT cannot be sandboxed: the setting `sandbox.strategy` is `none`, and the plan requires sandboxes

  Scenario: A plan that requires none can do without
    Given a plan on the repository and a directory beside it
    And the plan requires no sandbox
    And the variable CLEVERAGENTS_SANDBOX_STRATEGY is "none"
    When the user makes the plan
    Then the stored strategies are "project none, assets none"

  Scenario: A project cannot choose it
    Given the project's own file says "sandbox.strategy = 'none'"
    When the user runs "agents config get sandbox.strategy"
    Then the exit code is 10
    And the error output says "cannot be set by a project, only by the user"
