Feature: The database of plans and checkpoints
  Everything the program knows is in one database. It is made at first use. What
  is not ours, or cannot be understood, is left exactly as it is.

  Rule: The database is made at its first use, for its user only

    Scenario: The first use makes a private database
      When the database is used
      Then it holds no plans
      And only its user can read the database and its directory

    Scenario: An empty file is as good as none
      Given an empty file in the place of the database
      When the database is used
      Then it holds no plans

    Scenario: Processes that start together share one new database
      When 4 processes each store a plan in the new database
      Then it holds the plans of all 4 processes

    Scenario: Processes that start together share one new database on a server
      Given an empty database in PostgreSQL
      When 4 processes each store a plan in the new database
      Then it holds the plans of all 4 processes

    Scenario: A process that opens the database twice keeps its hold on it
      Given a program that has made the database and stored a plan in it
      And the program has opened it a second time and closed that again
      When another process stores a plan and ends, and the program one more
      Then it holds all 3 plans, and for everybody else too

    Scenario: A process killed while it makes the database does no harm
      When a process is killed at each moment of making the database
      Then the next use finds a whole database every time

  Rule: What cannot be used is refused and left as it is

    Scenario Outline: <situation>
      Given the situation: <situation>
      When the database is used
      Then it is refused with exit code <code>: <reason>
      And it is byte for byte what it was

      Examples: Files
        | situation                                    | code | reason                          |
        | a newer program has changed the database     | 1    | a schema that this program does |
        | the database says it has no version          | 1    | a schema that this program does |
        | a text file is in the place of the database  | 1    | it is not a SQLite database     |
        | the database is cut off after 50 bytes       | 1    | it ends within its header       |
        | the database is cut off after 5000 bytes     | 1    | is damaged                      |
        | the database is overwritten with noise       | 1    | is damaged                      |
        | the tables of the database are gone          | 1    | its tables do not exist         |
        | the database belongs to another program      | 1    | belongs to another program      |
        | the database is marked by another program    | 1    | belongs to another program      |
        | a directory is in the place of the database  | 1    | it is not a file                |
        | the user may not read the database           | 1    | Permission denied               |
        | the user may not write the database          | 1    | Permission denied               |
        | the user may not write where the database is | 1    | cannot be opened                |
        | the user may not make the database           | 1    | Permission denied               |
        | there is no space to make the database          | 1    | failed                          |
        | another process is making the database       | 6    | Another process is using        |
        | a foreign key of an older database is broken | 1    | rows refer to others            |
        | an older database cannot be copied           | 1    | cannot be copied first          |

      Examples: Servers
        | situation                                       | code | reason                          |
        | a newer program has changed the server's tables | 1    | a schema that this program does |
        | the server holds tables of another program      | 1    | belongs to another program      |
        | the server holds views of another program       | 1    | belongs to another program      |
        | there is no server                              | 1    | server cannot be used           |
        | the server has no such database                 | 1    | does not exist                  |

    Scenario Outline: Storing fails whole when <situation>
      Given the situation: <situation>
      When a plan is stored
      Then it is refused with exit code <code>: <reason>
      And the database holds what it held

      Examples:
        | situation                           | code | reason                   |
        | another process is writing          | 6    | Another process is using |
        | the disk is full                    | 1    | no space left            |
        | the disk fails                      | 1    | failed                   |
        | the server reports a full disk      | 1    | no space left            |
        | the server reports an unusual error | 1    | failed                   |

    Scenario Outline: A stored plan whose <column> says <value> is reported, not guessed
      Given a database with one plan
      And its <column> says <value>
      When the plan is read
      Then it is refused with exit code 1: cannot be read (table `plans`)

      Examples:
        | column          | value    |
        | phase           | sleeping |
        | arguments_json  | {"a": 1} |
        | definition_json | []       |
        | definition_json | {        |

  Rule: The setting for the database is checked before anything is opened

    Scenario Outline: <setting> cannot be used
      When the database is set to <setting>
      Then it is refused with exit code 10: <reason>

      Examples:
        | setting                     | reason             |
        | mysql://localhost/plans     | is not supported   |
        | state.db                    | not a database URL |
        | sqlite://                   | absolute path      |
        | sqlite:///relative.db       | absolute path      |
        | sqlite:////tmp/a.db?mode=ro | absolute path      |
        | postgresql://h:port/plans   | not a database URL |

    Scenario: The driver refuses an option that it does not know
      Given the database is set to a server with an unknown option
      When the database is used
      Then it is refused with exit code 10: invalid URI query parameter

    Scenario: A file elsewhere can be the database
      Given the database is set to a file elsewhere
      When the database is used
      Then it holds no plans

    Scenario: The home directory may have any name
      Given a home directory with an odd name
      When the database is used
      Then it holds no plans

    Scenario: PostgreSQL needs its driver
      Given the driver of PostgreSQL is not installed
      When the database is used
      Then it is refused with exit code 10: driver is not installed
