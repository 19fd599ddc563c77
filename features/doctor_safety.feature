Feature: Mending endangers nothing
  What another process has is left to it, what cannot be mended is said, and records of another home
  are not believed.

  Rule: what another process has is left to it

    Scenario Outline: Somebody is quicker where <ailment>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this ailment: <ailment>
      And somebody takes the plan up right after it was asked who holds it
      When the user has the installation mended
      Then the exit code is 3
      And the check "<check>" is warning: Plan PLAN is held by process LIVING
      And nothing that a record names has changed

      Examples:
        | ailment                                            | check                  |
        | a rollback was interrupted                         | interrupted-operations |
        | a snapshot was made and not recorded               | leases                 |

    Scenario: A plan that somebody takes up again is not called interrupted
      Given the installation has this ailment: a plan was interrupted
      And somebody takes the plan up right after it was asked who holds it
      When the user has the installation mended
      Then the exit code is 3
      And the check "interrupted-plans" is ok: No plan was left in the middle

    Scenario: A process that ends well meanwhile has left nothing behind
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan is held by a process that ends well when it is asked for
      When the user has the installation checked
      Then the exit code is 0
      And every check is ok

  Rule: what cannot be mended is said

    Scenario Outline: <first>, and <second>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this ailment: <first>
      And the installation has this ailment: <second>
      When the user has the installation mended
      Then the exit code is 1
      And the check "<check>" is problem: <finding>

      Examples:
        | first                                            | second                                          | check                  | finding                                        |
        | a rollback was interrupted                       | the sandbox of a finished plan has been deleted | interrupted-operations | PLAN: The sandbox is missing                   |
        | a plan was interrupted                           | all stores are gone                             | interrupted-plans      | cannot be used: No such file                   |
        | others may look into the home directory          | the system refuses to change modes              | home                   | cannot be changed: Operation not permitted     |
        | others may look into the home directory          | the home directory is of no use to this user    | home                   | cannot be read and written by this user        |

  Rule: records of another home are not believed

    Scenario: Plans of another home on the same server are that home's affair
      Given the settings name a new database of a PostgreSQL server
      And a plan that wrote a.txt in step one and b.txt in step two
      And another home directory is used from now on
      When the user has it checked where nothing was ever run
      Then the exit code is 0
      And every check is ok
