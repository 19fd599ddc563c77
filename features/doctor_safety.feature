Feature: A fix endangers nothing
  What another process has is left to it, what cannot be fixed is said, records of another home are
  not believed, and a kill at any moment leaves something that can be fixed again.

  Rule: what another process has is left to it

    Scenario: A plan that is running
      Given a plan with the steps
        | step | does                                                                                             |
        | one  | runs `touch OUTSIDE/begun; while ! test -e OUTSIDE/fixed && test -d OUTSIDE; do sleep 0.05; done` |
      And the plan has been made
      And another process is executing the plan
      When the user has the installation fixed
      Then the exit code is 3
      And the check "stores" is warning: was not checked
      And the check "interrupted-plans" is ok: No plan was interrupted
      And the other process ends well once the cause of its waiting is fixed

    Scenario Outline: Somebody is quicker where <damage>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage: <damage>
      And somebody takes the plan up right after it was asked who holds it
      When the user has the installation fixed
      Then the exit code is 3
      And the check "<check>" is warning: Plan PLAN is held by process LIVING
      And nothing that a record names has changed

      Examples:
        | damage                                             | check                  |
        | a rollback was interrupted                         | interrupted-operations |
        | a snapshot was made and not recorded               | leases                 |
        | there is a sandbox that a known plan does not have | orphaned-sandboxes     |

    Scenario: A plan that somebody takes up again is not called interrupted
      Given the installation has this damage: a plan was interrupted
      And somebody takes the plan up right after it was asked who holds it
      When the user has the installation fixed
      Then the exit code is 3
      And the check "interrupted-plans" is ok: No plan was interrupted

    Scenario: A process that ends well meanwhile has left nothing behind
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan is held by a process that ends well when it is asked for
      When the user has the installation checked
      Then the exit code is 0
      And every check is ok

  Rule: what cannot be fixed is said

    Scenario: Nothing is taken out of stores whose refs were lost
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage: a killed run has left half a pack
      And the installation has this damage: an agent has deleted the refs of the snapshots
      When the user has the installation fixed
      Then the exit code is 1
      And the check "leftovers" is problem: because some checkpoints have lost the refs that keep their snapshots
      And nothing has changed anywhere

    Scenario Outline: <first>, and <second>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage: <first>
      And the installation has this damage: <second>
      When the user has the installation fixed
      Then the exit code is 1
      And the check "<check>" is problem: <finding>

      Examples:
        | first                                            | second                                          | check                  | finding                                        |
        | a rollback was interrupted                       | a file stands in the place of the sandbox       | interrupted-operations | PLAN: The sandbox SANDBOX                   |
        | a plan was interrupted                           | all stores are gone                             | interrupted-plans      | cannot be used: No such file                   |
        | there is a sandbox that a known plan does not have | the disk fails when files are removed         | orphaned-sandboxes     | could not be removed: I/O error                |
        | others may look into the home directory          | the system refuses to change modes              | home                   | cannot be changed: Operation not permitted     |
        | others may look into the home directory          | the home directory is of no use to this user    | home                   | cannot be read and written by this user        |
        | there is a snapshot that no record names         | the lock of a store is a directory              | stores                 | was not checked: [Errno 21]             |

  Rule: records of another home are not believed

    Scenario: A directory that a new database cannot know is left alone
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage: there is a directory of an unknown plan
      And the installation has this damage: the database was lost, and a new one made
      When the user has the installation fixed
      Then the exit code is 0
      And the check "orphaned-sandboxes" is warning: it may be older than they are, or the wrong database
      And nothing has changed anywhere

    Scenario: Plans of another home on the same server are that home's affair
      Given the settings name a new database of a PostgreSQL server
      And a plan that wrote a.txt in step one and b.txt in step two
      And another home directory is used from now on
      When the user has it checked where nothing was ever run
      Then the exit code is 0
      And every check is ok

  Rule: a kill at any moment leaves something that can be fixed

    Scenario: A fix is killed at one action after another and then done
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage
        | damage                                                        |
        | a rollback was interrupted                                    |
        | there is half a sandbox                                       |
        | there is a sandbox that a known plan does not have            |
      When a fix is killed at one action after another and then done
      Then all was well every time, and the sandbox as it was at "after one"
