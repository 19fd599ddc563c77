Feature: Upgrading the database of an older program
  An older database is copied and then migrated in one step that happens whole
  or not at all.

  Rule: Nothing is lost by an upgrade

    Scenario: An older database is copied before it is migrated
      Given a database of the first version with one plan
      When the database is used
      Then it holds its plan
      And a private copy of what it was lies beside it

    Scenario: An upgraded database is like a new one
      Given a database of the first version with one plan
      When the database is used
      Then its schema is that of a new database

    Scenario: A server's database is upgraded
      Given a server's database of the first version
      When the database is used
      Then it holds no plans
      And its schema is what the program expects

    Scenario: Processes that start together upgrade the database once
      Given a database of the first version with one plan
      When 4 processes each store a plan in the old database
      Then it holds the plans of all 4 processes and its own
      And a private copy of what it was lies beside it

    Scenario: A process killed while it migrates does no harm
      When a process is killed at each moment of migrating the database
      Then the next use finds a whole database every time

  Rule: Nothing is migrated under a running process of another version

    Scenario Outline: A database in <store> is left alone while <process>
      Given a database of the first version in <store>
      And <process>
      When the database is used
      Then it is refused with exit code 6: a process of another version uses it: process 42 on far.example.org
      And it is byte for byte what it was

      Examples:
        | store      | process                                   |
        | SQLite     | a process of the first version runs       |
        | SQLite     | a process without presence holds a plan   |
        | PostgreSQL | a process of the first version runs       |
        | PostgreSQL | a process without presence holds a plan   |

    Scenario Outline: A database in <store> is migrated although <process>
      Given a database of the first version in <store>
      And <process>
      When the database is used
      Then its schema is what the program expects

      Examples:
        | store      | process                                         |
        | SQLite     | a process of this version runs                  |
        | SQLite     | a process of the first version was killed       |
        | SQLite     | a process without presence held a plan long ago |
        | PostgreSQL | a process of this version runs                  |
        | PostgreSQL | a process without presence held a plan long ago |

  Rule: Programs and migrations agree

    Scenario Outline: A new database in <store> is what the program expects
      Given an empty database in <store>
      When the database is used
      Then its schema is what the program expects

      Examples:
        | store      |
        | SQLite     |
        | PostgreSQL |

    Scenario: The list of known versions is that of the migrations
      When the migrations are listed
      Then they are the versions that the program knows

  Rule: What need not be done costs nothing

    Scenario: An up-to-date database is opened without the migration tool
      Given a database with one plan
      When a new process uses the database
      Then it does not load the migration tool

    Scenario: A database that lost its write-ahead log gets it back
      Given a database with one plan
      And its write-ahead log is turned off
      When the database is used
      Then its write-ahead log is on
