Feature: Applying resources of other kinds
  What has no sandbox, and what is gone, are resources like the others.

  Scenario: A resource without a sandbox is there already
    Given sandboxes are removed on_apply
    And a plan that changed a repository in a sandbox and a directory without one
    When the user applies the plan
    Then the exit code is 0
    And git says in the project
      | command                | expected              |
      | git log -1 --format=%s | Apply plan local/shop |
      | cat ../files/b.txt     | 1                     |
    And its sandbox is gone, and the directory is not

  Scenario: A database that the plan deleted
    Given a plan that deleted its database
    When the user applies the plan
    Then the apply says
      | path   | status  | change |
      | app.db | deleted | binary |
    And there is no file `app.db` outside

  Scenario: Nothing says what the sandbox was before the plan
    Given a plan whose first checkpoint could not be made, and did not have to be
    When the user applies the plan
    Then the error's code is checkpoint_required
    And the project is as it was
