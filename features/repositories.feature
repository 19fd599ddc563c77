Feature: What is stored comes back
  Every database keeps the same promises. They are written down once, in
  `cleveragents.testing.records`, for our databases and for others.

  Rule: Each database keeps every promise

    Scenario Outline: In <store>, <promise>
      Given an empty database in <store>
      When it is asked to prove that <promise>
      Then the promise is kept

      Examples: SQLite
        | store      | promise                                   |
        | SQLite     | plans come back as they were              |
        | SQLite     | times come back in utc                    |
        | SQLite     | times without a zone are refused          |
        | SQLite     | saved plans replace every field           |
        | SQLite     | plans are listed oldest first             |
        | SQLite     | subplans are told from others             |
        | SQLite     | plans are filtered                        |
        | SQLite     | prefixes are literal                      |
        | SQLite     | unknown ids are not found                 |
        | SQLite     | duplicates are refused                    |
        | SQLite     | records of unknown plans are refused      |
        | SQLite     | sandboxes follow the order of resources   |
        | SQLite     | checkpoints come back as they were        |
        | SQLite     | groups are added whole                    |
        | SQLite     | sequences count each plan from one        |
        | SQLite     | set aside groups are hidden               |
        | SQLite     | set aside groups can be brought back      |
        | SQLite     | groups are given oldest first             |
        | SQLite     | checkpoints are given newest first        |
        | SQLite     | named snapshots are recognised            |
        | SQLite     | groups are deleted with their checkpoints |
        | SQLite     | groups are pruned with their checkpoints  |
        | SQLite     | groups with several checkpoints go whole  |
        | SQLite     | groups that count toward the limit        |
        | SQLite     | groups are pinned and unpinned            |
        | SQLite     | pins and deletions are told apart         |
        | SQLite     | decisions are listed by sequence          |
        | SQLite     | tool calls keep intent and outcome        |
        | SQLite     | calls are numbered within their plan      |
        | SQLite     | calls are undone and brought back         |
        | SQLite     | changes have an author                    |
        | SQLite     | changes of one path are found             |
        | SQLite     | changes of undone calls are hidden        |
        | SQLite     | changes are counted                       |
        | SQLite     | many changes are added whole              |
        | SQLite     | unfinished operations are found           |
        | SQLite     | leases are put and released               |
        | SQLite     | leases are renewed by their holder only   |
        | SQLite     | events follow from what is stored         |
        | SQLite     | what did not change is no event           |
        | SQLite     | events are listed as asked                |
        | SQLite     | what is told is what is stored            |
        | SQLite     | failed transactions have no events        |
        | SQLite     | failed transactions leave nothing         |
        | SQLite     | reading keeps nothing                     |
        | SQLite     | reading sees one moment                   |
        | SQLite     | unfinished writing is invisible           |
        | SQLite     | a held write lock is a conflict           |
        | SQLite     | writers take turns                        |
        | SQLite     | what is in effect is told as ranges       |
        | SQLite     | decisions are superseded and reinstated   |
        | SQLite     | saved decisions replace every field       |
        | SQLite     | influences are kept                       |
        | SQLite     | corrections come back as they were        |
        | SQLite     | children are found by their parent        |
        | SQLite     | operations know where the plan stood      |
        | SQLite     | validations come back oldest first        |
        | SQLite     | validations are told                      |
        | SQLite     | applies keep what they do                 |

      Examples: PostgreSQL
        | store      | promise                                   |
        | PostgreSQL | plans come back as they were              |
        | PostgreSQL | times come back in utc                    |
        | PostgreSQL | times without a zone are refused          |
        | PostgreSQL | saved plans replace every field           |
        | PostgreSQL | plans are listed oldest first             |
        | PostgreSQL | subplans are told from others             |
        | PostgreSQL | plans are filtered                        |
        | PostgreSQL | prefixes are literal                      |
        | PostgreSQL | unknown ids are not found                 |
        | PostgreSQL | duplicates are refused                    |
        | PostgreSQL | records of unknown plans are refused      |
        | PostgreSQL | sandboxes follow the order of resources   |
        | PostgreSQL | checkpoints come back as they were        |
        | PostgreSQL | groups are added whole                    |
        | PostgreSQL | sequences count each plan from one        |
        | PostgreSQL | set aside groups are hidden               |
        | PostgreSQL | set aside groups can be brought back      |
        | PostgreSQL | groups are given oldest first             |
        | PostgreSQL | checkpoints are given newest first        |
        | PostgreSQL | named snapshots are recognised            |
        | PostgreSQL | groups are deleted with their checkpoints |
        | PostgreSQL | groups are pruned with their checkpoints  |
        | PostgreSQL | groups with several checkpoints go whole  |
        | PostgreSQL | groups that count toward the limit        |
        | PostgreSQL | groups are pinned and unpinned            |
        | PostgreSQL | pins and deletions are told apart         |
        | PostgreSQL | decisions are listed by sequence          |
        | PostgreSQL | tool calls keep intent and outcome        |
        | PostgreSQL | calls are numbered within their plan      |
        | PostgreSQL | calls are undone and brought back         |
        | PostgreSQL | changes have an author                    |
        | PostgreSQL | changes of one path are found             |
        | PostgreSQL | changes of undone calls are hidden        |
        | PostgreSQL | changes are counted                       |
        | PostgreSQL | many changes are added whole              |
        | PostgreSQL | unfinished operations are found           |
        | PostgreSQL | leases are put and released               |
        | PostgreSQL | leases are renewed by their holder only   |
        | PostgreSQL | events follow from what is stored         |
        | PostgreSQL | what did not change is no event           |
        | PostgreSQL | events are listed as asked                |
        | PostgreSQL | what is told is what is stored            |
        | PostgreSQL | failed transactions have no events        |
        | PostgreSQL | failed transactions leave nothing         |
        | PostgreSQL | reading keeps nothing                     |
        | PostgreSQL | reading sees one moment                   |
        | PostgreSQL | unfinished writing is invisible           |
        | PostgreSQL | a held write lock is a conflict           |
        | PostgreSQL | writers take turns                        |
        | PostgreSQL | what is in effect is told as ranges       |
        | PostgreSQL | decisions are superseded and reinstated   |
        | PostgreSQL | saved decisions replace every field       |
        | PostgreSQL | influences are kept                       |
        | PostgreSQL | corrections come back as they were        |
        | PostgreSQL | children are found by their parent        |
        | PostgreSQL | operations know where the plan stood      |
        | PostgreSQL | validations come back oldest first        |
        | PostgreSQL | validations are told                      |
        | PostgreSQL | applies keep what they do                 |

    Scenario: The lists above are complete
      When the promises are counted
      Then each of them is listed for every database

    Scenario Outline: A database that <flaw> is found out
      Given a database that <flaw>
      When it is asked to prove that <promise>
      Then it is found out

      Examples:
        | flaw                  | promise                         |
        | forgets plans         | plans are listed oldest first   |
        | makes plans up        | unknown ids are not found       |
        | lets everybody write  | a held write lock is a conflict |

  Rule: A damaged description does not hide a checkpoint

    Scenario Outline: In <store>, a checkpoint described by <text>
      Given a checkpoint in <store> whose description was replaced by <text>
      When the checkpoints are read
      Then the description says label <label>, step <step>, resource <resource>
      And it says that <left out> was not captured

      Examples: Damage
        | store      | text                                                     | label      | step | resource   | left out   |
        | SQLite     | {"label": "mine", "step_index": 3, "new": [1]}           | mine       | 3    | unreadable | unreadable |
        | SQLite     | {"label": "mine", "step_index": "x", "resource": "r"}    | mine       | -1   | r          | unreadable |
        | SQLite     | {"not_captured": [{"path": "a", "reason": "b", "c": 1}]} | unreadable | -1   | unreadable | a          |
        | SQLite     | {"not_captured": ["a"], "label": "mine"}                 | mine       | -1   | unreadable | unreadable |
        | SQLite     | {"label":                                                | unreadable | -1   | unreadable | unreadable |
        | SQLite     | [1, 2]                                                   | unreadable | -1   | unreadable | unreadable |
        | SQLite     | 100000 opening brackets                                  | unreadable | -1   | unreadable | unreadable |
        | SQLite     | nothing                                                  | unreadable | -1   | unreadable | unreadable |
        | PostgreSQL | {"label": "mine", "step_index": 3, "new": [1]}           | mine       | 3    | unreadable | unreadable |
        | PostgreSQL | {"label":                                                | unreadable | -1   | unreadable | unreadable |

  Rule: An event has the time that the program's clock shows

    Scenario: A program whose clock was set back stores events of that time
      Given a program whose clock shows 2001-02-03T04:05:06+00:00
      When a plan is stored
      Then the event of the plan has the time 2001-02-03T04:05:06+00:00
