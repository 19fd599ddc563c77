Feature: Resources that share a sandbox
  What two resources both hold exists once: a directory in the sandbox of another resource is a
  place in that sandbox, and is checkpointed, rolled back and applied with it.

  Background:
    Given the project has a directory `docs` in its commit

  Scenario: A directory of the repository is a place in its sandbox
    Given a plan on the repository and its directory `docs` that writes to both
    When the user runs the plan
    Then the plan has the one sandbox `project`
    And the sandbox of the project has these files
      | path         | content                  |
      | top.txt      | in docs: SANDBOX/docs    |
      | docs/new.txt | from the tool: SANDBOX/docs |
    And the shared resources are "docs in project at SANDBOX/docs"

  Scenario: Both are rolled back together
    Given a plan on the repository and its directory `docs` that writes to both
    And the plan has run
    When the user rolls the plan back to "before execution"
    Then the sandbox is the project after `true`

  Scenario: Both are applied once
    Given a plan on the repository and its directory `docs` that writes to both
    And the plan has run
    When the user applies the plan
    Then the exit code is 0
    And the project's files are those of the sandbox
    And the one target of the apply is `project`

  Scenario: Tools and validations start in the first resource, also if it is a shared one
    Given a plan on its directory `docs` first and then the repository
    And the plan has run
    When the user applies the plan
    Then the exit code is 0
    And the sandbox of the project had `docs/here.txt`

  Scenario: A subplan on a shared directory works in it
    Given a plan with a subplan on the shared directory `docs`
    When the user runs the plan
    Then the exit code is 0
    And the sandbox of the project has these files
      | path           | content |
      | docs/child.txt | child   |

  Scenario: One repository under two names
    Given a plan on the repository under two names that writes to both
    When the user runs the plan
    Then the plan has the one sandbox `project`
    And the sandbox of the project has these files
      | path  | content |
      | a.txt | a       |
      | b.txt | b       |

  Scenario: A strategy of its own is refused where the sandbox is another's
    Given a plan on the repository and its directory `docs`, which will be copied
    When the user makes the plan
    Then it is refused with the code 4 and the sentence PROJECT/docs cannot be sandboxed: docs shares the sandbox of the resource project, whose strategy is `git_worktree`

  Scenario: A plan file cannot say what is shared
    Given the plan
      """
      name: local/x
      resources: {project: {type: git-checkout, path: ., shared: {sandbox: a, place: b}}}
      steps: [{tool: shell, with: {command: "true"}}]
      """
    When the user makes the plan
    Then the exit code is 2
    And the message of the error ends with "the resource `project` has no key `shared`"
