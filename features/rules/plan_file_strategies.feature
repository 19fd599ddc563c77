Feature: Strategies in plan files
  Each type of resource has a strategy that it gets unasked, and others that may be asked for.

  Scenario Outline: A resource <resource>
    Given a plan file with the line `resources: {data: <resource>}`
    When the plan file is read
    Then its resource data has the strategy <strategy>

    Examples:
      | resource                                                  | strategy             |
      | {type: git-checkout, path: .}                             | git_worktree         |
      | {type: fs-directory, path: data}                          | filesystem_copy      |
      | {type: sqlite, path: app.db}                              | transaction_rollback |
      | {type: fs-directory, path: data, strategy: overlay}       | overlay              |
      | {type: sqlite, path: a.db, strategy: transaction_rollback} | transaction_rollback |

  Scenario Outline: <problem>
    Given a plan file with the line `resources: {data: <resource>}`
    When the plan file is read
    Then the file is refused on line 4 because <problem>

    Examples:
      | resource                                           | problem                                                              |
      | {type: sqlite, path: a.db, strategy: overlay}      | a `sqlite` resource cannot have the strategy `overlay`               |
      | {type: git-checkout, path: ., strategy: overlay}   | a `git-checkout` resource cannot have the strategy `overlay`         |
      | {type: fs-directory, path: d, strategy: copy}      | `strategy` cannot be `copy`                                          |
      | {type: fs-directory, path: d, strategy: none}      | the strategy `none` isolates nothing, but the plan requires sandboxes |
      | {type: folder, path: d}                            | `type` cannot be `folder`                                            |

  Scenario: Without isolation only when the plan says so
    Given a plan file
      """
      name: local/example
      policy: {require_sandbox: false}
      resources: {data: {type: fs-directory, path: data, strategy: none}}
      steps: [{tool: shell, with: {command: "true"}}]
      """
    When the plan file is read
    Then its resource data has the strategy none
