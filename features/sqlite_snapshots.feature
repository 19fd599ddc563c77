@disk
Feature: A database can be brought back
  Checkpoints of a SQLite database work like transactions. What the store promises is
  written down once, in `cleveragents.testing.sqlite`.

  Rule: The store keeps every promise

    Scenario Outline: Of a database, <promise>
      Given databases in sandboxes of their own
      When the store of databases is to prove that <promise>
      Then that is proved

      Examples:
        | promise                               |
        | rows come back                        |
        | equal content is one snapshot         |
        | taking one changes nothing            |
        | unfinished transactions are left out  |
        | write ahead logs are captured         |
        | open connections see a restore        |
        | locked databases are refused          |
        | journal modes come back               |
        | other journals need to be alone       |
        | page sizes come back                  |
        | permission bits come back             |
        | any file comes back                   |
        | logs of others are not applied        |
        | what is no file is left alone         |
        | a rollback can be undone              |
        | previews come true                    |
        | files beside it are left alone        |
        | cost follows the change               |
        | snapshots stand alone                 |
        | unknown snapshots are missing         |
        | missing sandboxes are refused         |
        | repeated rollbacks find nothing to do |
        | differences are told                  |
        | coming and going are told             |
        | a database changes as one path        |
        | databases change alike in every process |
        | a database is combined as one path    |
        | databases are combined without a look |
        | databases that cannot be combined are refused |
        | databases are merged whole            |
        | written databases are in conflict     |
        | what is no database is not merged     |
        | databases are taken                   |

    Scenario: That list is complete
      When somebody counts the promises about databases
      Then the feature `sqlite_snapshots.feature` lists each of them

  Rule: Damage is noticed before anything is touched

    Scenario Outline: A snapshot is brought back although <fault>
      Given a database whose rows were deleted after its snapshot
      And in its store <fault>
      When the database is brought back
      Then that is refused because <reason>
      And the database is as it was left

      Examples:
        | fault                            | reason                  |
        | every pack has gone              | missing in              |
        | its tree has gone                | missing in              |
        | a byte of each chunk has flipped | is damaged              |
        | the document is another          | not hold what it lists  |
        | the document is nonsense         | document cannot be read |
        | the commit is an ordinary one    | is not a snapshot       |

    Scenario: A full disk is said, and the next snapshot is whole
      Given a database whose rows were deleted after its snapshot
      When a snapshot is made on a full disk, and another when there is room
      Then that is refused because The snapshot could not be stored
      And the other one can be brought back

    Scenario Outline: A comparison goes as far as <what> can be read
      Given a database whose rows were deleted after its snapshot
      And then <what> can hardly be read
      When its snapshots are compared
      Then the comparison says `<line>`

      Examples:
        | what       | line                          |
        | its schema | a schema that cannot be read  |
        | its tables | rows that cannot be counted   |

  Rule: A checkpoint costs what changed

    Scenario: A database that nobody touched is not read again
      Given an engine that has seen its database at rest
      When a snapshot is made while another process keeps the database locked
      Then it is the same snapshot, and nothing was stored

    Scenario: A snapshot that was dropped is made again
      Given an engine that has seen its database at rest
      When its snapshot is dropped and made again
      Then it is the same snapshot, and it can be verified

  Rule: A kill does no harm

    Scenario Outline: A process is killed while it <acts>
      When a process is killed at one act after another while it is to <acts>
      Then the next process has found everything in order each time

      Examples:
        | acts               |
        | copy a database    |
        | store a database   |
        | restore a database |
        | replace a database |
        | copy a directory   |
