Feature: A database server that goes away, and one that several hosts share
  A run survives a restart of its server. Every wait for a server ends. Plans do not wait for
  each other, and the clock of the server decides about leases.

  Rule: a run survives a restart

    Background:
      Given a plan with the steps
        | step | does                                                                                                       |
        | one  | runs `echo once >> OUTSIDE/begun; while ! test -e OUTSIDE/fixed && test -d OUTSIDE; do sleep 0.05; done` |
        | two  | writes b.txt                                                                                               |
      And the plan has been made, with its records in PostgreSQL

    Scenario: The server is restarted while a tool runs
      Given another process is executing the plan
      When the server is restarted
      Then the other process ends well once the cause of its waiting is fixed
      And each step has run once

    Scenario: The server is away when the tool ends, and comes back
      Given another process is executing the plan
      And the server is stopped
      When the cause of its waiting is fixed, and the server started once it is missed
      Then the other process ends well once the cause of its waiting is fixed
      And each step has run once

    Scenario: A process that cannot renew its lease ends its tool and stops
      Given the lease time is 5 seconds
      And another process is executing the plan
      When the server is stopped
      Then the other process ends with the code 6 and the sentence The lease on plan PLAN could not be renewed, so another process may take the plan
      And no process of the plan's tools is left

  Rule: a run survives the loss of its connection at any message

    Scenario Outline: <what> is lost
      Given a plan with the steps
        | step | does                              |
        | one  | runs `echo once >> OUTSIDE/begun` |
        | two  | writes b.txt                      |
      When it is run with its records in PostgreSQL, and <what> is lost each time
      Then each run has left the records of one that nothing disturbed

      Examples:
        | what                    |
        | a message to the server |
        | an answer of the server |

    Scenario: Another process writes while the server is away
      Given a database in PostgreSQL that is in use
      When a program loses its connection after it read a plan that another one then changes
      Then it is refused with exit code 6: while the database server was away

  Rule: every wait ends

    Scenario: Waiting for a server that does not come back ends
      Given a database in PostgreSQL that is in use
      And the server is stopped
      When the plan is read again
      Then it is refused with exit code 1: The database server cannot be used

    Scenario: A server that goes away in the middle of a transaction
      Given a database in PostgreSQL that is in use
      When the server is stopped while a program writes
      Then it is refused with exit code 1: The database server cannot be used

    Scenario: A server that got another schema meanwhile is not used
      Given a database in PostgreSQL that is in use
      And the server was restarted with the schema of another version
      When the plan is read again
      Then it is refused with exit code 1: got another schema while this program used it

    Scenario: A server that takes connections and says nothing
      Given a server that takes connections and says nothing
      When the database is used
      Then it is refused with exit code 1: The database server cannot be used

    Scenario: A connection that no longer answers is replaced
      Given a database in PostgreSQL that is in use
      And the process of the server that serves it is stopped
      When the plan is read again
      Then it succeeds

  Rule: plans do not wait for each other

    Scenario: The process that keeps a plan's lock is named
      Given a database in PostgreSQL that is in use
      And process 42 on far.example.org is writing about PLAN1
      When a program writes about PLAN1
      Then it is refused with exit code 6: process 42 on far.example.org

    Scenario: Another plan can be written meanwhile
      Given a database in PostgreSQL that is in use
      And process 42 on far.example.org is writing about PLAN1
      When a program writes about PLAN2
      Then it succeeds

    Scenario: A program that names no plan waits for all
      Given a database in PostgreSQL that is in use
      And process 42 on far.example.org is writing about PLAN1
      When a program writes about all plans
      Then it is refused with exit code 6: process 42 on far.example.org

    Scenario: The process that may keep a file locked is named
      Given a database in SQLite that is in use
      And another process is writing to it
      When a program writes about PLAN1
      Then it is refused with exit code 6: state.db: process
