Feature: Fixing the installation
  `agents doctor --fix` fixes what is safe to fix and says what it did. It never touches the user's
  project, nor what a record names, nor what another process is using.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Rule: what is safe to fix is fixed

    Scenario Outline: <damage>
      Given the installation has this damage: <damage>
      When the user has the installation fixed
      Then the exit code is 0
      And the check "<check>" is fixed: <done>
      And nothing that a record names has changed
      And checking again finds nothing

      Examples:
        | damage                                                        | check                  | done                                           |
        | others may look into the home directory                       | home                   | has the mode 0700 now                          |
        | the schema is older                                           | database               | The schema was upgraded from                   |
        | a rollback was interrupted                                    | interrupted-operations | rollback to «after one» was completed          |
        | there is a sandbox that a known plan does not have            | orphaned-sandboxes     | Removed SANDBOXES/PLAN/data                    |
        | there is a snapshot that no record names                      | orphaned-snapshots     | Removed refs/cleveragents/snapshots/PLAN       |
        | there is half a sandbox                                       | leftovers              | B of unfinished sandboxes                      |
        | a killed run has left half a pack                             | leftovers              | Removed                                        |

    Scenario: A plan that was interrupted waits for its user
      Given the installation has this damage: a plan was interrupted
      When the user has the installation fixed
      Then the exit code is 0
      And the check "leases" is fixed: Released: PLAN
      And the check "interrupted-plans" is warning: Left unfinished by a process that ended: PLAN
      And once the plan is cancelled, checking again finds nothing

    Scenario: A sandbox that is gone is made again by resuming
      Given the installation has this damage: the sandbox of a plan that is to go on has been deleted
      When the user has the installation fixed
      Then the exit code is 1
      And the hint for "missing-sandboxes" is to run agents plan resume PLAN
      And once that is done, checking again finds nothing

    Scenario: All at once
      Given the installation has this damage
        | damage                                                        |
        | there is a snapshot that no record names                      |
        | there is half a sandbox                                       |
        | others may look into the home directory                       |
      When the user has the installation fixed
      Then the output says "Fixed 4 issues; no problems left"
      And checking again finds nothing

  Rule: what is not safe to fix is left, and named

    Scenario Outline: <damage>
      Given the installation has this damage: <damage>
      When the user has the installation fixed
      Then the exit code is <code>
      And the check "<check>" is <status>: <finding>
      And nothing has changed anywhere

      Examples:
        | damage                                               | code | check              | status  | finding                               |
        | the schema is newer                                  | 1    | database           | problem | a schema that this program            |
        | a page of the database is damaged                    | 1    | database           | problem | is damaged                            |
        | there is an unknown setting                          | 1    | database           | warning | The configuration cannot be read      |
        | stored bytes are gone                                | 1    | snapshots          | problem | 2 of 6 checkpoints cannot be restored |
        | the sandbox of a finished plan has been deleted      | 0    | missing-sandboxes  | warning | SANDBOX cannot be used: it is missing |
        | the project has been deleted                         | 0    | projects           | warning | Missing                               |
        | the database was lost, and a new one made            | 0    | orphaned-snapshots | warning | it may be older than that mirror      |
        | there is a directory that is not ours                | 0    | orphaned-sandboxes | ok      | Every sandbox on disk belongs to a    |
        | there is a directory of an unknown plan              | 0    | orphaned-sandboxes | warning | does not know 01BX5ZZKBKACTAV9WEVGEM  |
        | there is a sandbox with snapshots of an unknown plan | 0    | quarantine         | warning | kept: 01ARZ3NDEKTSV4RRFFQ69G5FAV      |
        | a store is in use                                    | 3    | stores             | warning | it is in use                          |
