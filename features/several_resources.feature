Feature: A plan with several kinds of resources
  A repository, a directory and a database are worked on together, checkpointed together and
  rolled back together.

  Background:
    Given a project with a directory `data` and a database `app.db` that git ignores

  Scenario: One step writes to all of them, and all of them go back
    Given a plan on all three whose steps write to all of them
    When the plan is run and rolled back to its first checkpoint
    Then every sandbox is as it was before the run
    And the user's own files were never touched

  Scenario: What the ids of one moment have in common names that moment
    Given a plan on all three whose steps write to all of them
    When the plan is run and rolled back to the beginning of the ids of its first group
    Then every sandbox is as it was before the run

  Scenario: Each sandbox is described
    Given a plan on all three whose steps write to all of them
    When the plan is run
    Then its sandboxes are
      | resource | strategy             | branch | copy | skipped |
      | project  | git_worktree         | yes    | no   | no      |
      | files    | filesystem_copy      | no     | yes  | pipe    |
      | base     | transaction_rollback | no     | no   | no      |
    And the run warned that `pipe` is not in the sandbox of `files`

  Scenario: A checkpoint has a row for each resource that changed, or else for the first
    Given a plan on all three whose steps write to all of them
    When the plan is run
    Then the rows of its checkpoints are
      | label             | resources            |
      | before execution  | project, files, base |
      | before write-file | project              |
      | after write-file  | files                |
      | after execution   | project              |

  Scenario: A decision has a row for each resource that changed since the decision before it
    Given a plan on all three that decides after it changed two, one and none of them
    When the plan is run
    Then the rows of its checkpoints are
      | label            | resources     |
      | after two        | project, base |
      | decided: first   | project, base |
      | after one        | files         |
      | decided: second  | files         |
      | decided: third   | project       |
      | after execution  | project       |

  Scenario: A group has the state hash of each resource
    Given a plan on all three whose steps write to all of them
    When the plan is run
    Then each of its groups has the state hash of every snapshot that it names

  Scenario: Two checkpoints of a database are compared by table
    Given a plan on `app.db` alone, in a directory without git
    When the plan is run and the checkpoints of its database are compared
    Then the comparison says that app.db has one row more

  Scenario: Two checkpoints of all of them are compared
    Given a plan on all three whose steps write to all of them
    When the plan is run and the checkpoints of its database are compared
    Then the comparison names each file with its resource, in the patch too

  Scenario: Odd names are compared with their resources
    Given a plan on all three that writes these files to the project and to `data`
      | name          |
      | q b/bin       |
      | a "quotation" |
      | a\nline       |
      | a\xffbyte     |
    When the plan is run and the checkpoints of its database are compared
    Then the comparison names each file with its resource, in the patch too

  Scenario: A patch says of each odd name which resource it is in
    Given a plan on all three that writes these files to the project and to `data`
      | name          |
      | q b/bin       |
      | a "quotation" |
    When the plan is run and its patch is shown
    Then the patch has these headers
      | header                                                                        |
      | diff --git "a/project/a \"quotation\"" "b/project/a \"quotation\""      |
      | diff --git a/project/q b/bin b/project/q b/bin                                |
      | Binary files /dev/null and b/project/q b/bin differ                           |
      | Binary files /dev/null and b/files/q b/bin differ                             |
      | +++ b/base/app.db                                                             |

  Scenario: Without git any directory will do for a project
    Given a plan on `app.db` alone, in a directory without git
    When the plan is run and rolled back to its first checkpoint
    Then every sandbox is as it was before the run
    And the user's own files were never touched

  Scenario: A repository is needed as soon as the plan names one
    Given a plan on all three whose steps write to all of them
    And the project is no longer a repository
    When the plan is run
    Then it ends with exit code 4 and `is not in a git repository`

  Scenario: Without isolation the plan works on the resource itself, and says so
    Given a plan on `data` that requires no sandbox
    When the plan is run and rolled back to its first checkpoint
    Then it ends with exit code 4 and `stores nothing and cannot be rolled back`
    And the directory `data` has the plan's own file
    And the run warned that cannot be rolled back
