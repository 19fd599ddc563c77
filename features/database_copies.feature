Feature: A database is copied as of its last transaction
  The copy is consistent also while others write, and nothing is left beside the original.

  Rule: Whatever state it is in, it is copied whole and left untouched

    Scenario Outline: A database <state>
      Given a user's database <state>
      When a plan gets the sandbox called transaction_rollback
      Then its copy holds <rows> rows, and has the name and the permission bits of the original
      And nothing was changed beside the original

      Examples:
        | state                                       | rows |
        | with a rollback journal                     | 2    |
        | in write-ahead mode, at rest                | 2    |
        | in write-ahead mode, open, with a log       | 3    |
        | whose log was left by a killed program      | 3    |
        | whose journal was left by a killed program  | 2    |
        | in which somebody has begun to write        | 2    |

    Scenario: An empty file is an empty database
      Given a file without a byte for a database
      When a plan gets the sandbox called transaction_rollback
      Then its copy is without a byte too

    Scenario: A database that changes while it is copied is copied again
      Given a user's database in write-ahead mode, at rest
      And somebody writes to it while it is copied
      When a plan gets the sandbox called transaction_rollback
      Then its copy holds 3 rows, and has the name and the permission bits of the original

  Rule: What cannot be copied whole is refused

    Scenario Outline: A database <state> is refused
      Given a user's database <state>
      When a plan gets the sandbox called transaction_rollback
      Then that is refused because <reason>
      And no trace of the sandbox is left

      Examples:
        | state                              | reason                        |
        | that somebody keeps locked         | is locked by another program  |
        | that never holds still             | is locked by another program  |
        | that is damaged                    | SQLite cannot read it         |
        | that goes before it is copied      | there is no such file         |
        | that cannot be written to the disk | The sandbox could not be created |

    Scenario: A removed sandbox is missing
      Given a user's database with a rollback journal
      And a plan has the sandbox called transaction_rollback
      When the sandbox is removed, twice
      Then a check says that it is missing
