Feature: SQL on a database of the plan
  Statements run in one transaction on a `sqlite` resource, and reach nothing else.

  Rule: rows are given back

    Scenario Outline: A query
      Given a database of people
      When the statement `<statement>` runs with `<more>`
      Then the output is "<output>"

      Examples:
        | statement                                   | more                          | output                                                       |
        | select * from people                        | {}                            | name  age\n----  ----\nAda   36\nBo    NULL\n                |
        | select * from people                        | {"format": "json"}            | {\"name\": \"Ada\", \"age\": 36}\n{\"name\": \"Bo\", \"age\": null}\n |
        | select * from people                        | {"limit": 1}                  | name  age\n----  ---\nAda   36\n[1 more row; `limit` sets how many are returned]\n |
        | select age from people where name = ?       | {"values": ["Ada"]}           | age\n---\n36\n                                               |
        | select ? as x                               | {"values": ["'; drop table people; --"]} | x\n------------------------\n'; drop table people; --\n |
        | select 1 as a, 2 as a, x'ff' as b, 9e999    | {"format": "json"}            | {\"a\": 1, \"a_2\": 2, \"b\": \"ff\", \"9e999\": \"inf\"}\n  |
        | select x'0001' as b, 'a' \|\| char(10) as t | {}                            | b        t\n-------  ---\nx'0001'  a\\n\n                    |
        | select cast(x'ff41' as text) as t           | {}                            | t\n--\n\ufffdA\n                                             |
        | pragma table_info(people)                   | {"format": "json", "limit": 1} | {\"cid\": 0, \"name\": \"name\", \"type\": \"TEXT\", \"notnull\": 0, \"dflt_value\": null, \"pk\": 0}\n{\"more_rows\": 1}\n |
        | insert into people values ('Cy', 1)         | {"format": "json"}            | {\"changed\": 1}\n                                           |

  Rule: all statements, or none

    Scenario: Several statements
      Given a database of people
      When the statement `-- first;\ninsert into people values ('Cy; \"x\"', 1); ; update people set age = 2; /* ; */ select count(*) as n from people` runs
      Then the output is "n\n-\n3\n4 rows changed\n"
      And nothing lies beside the database

    Scenario: A trigger is one statement
      Given a database of people
      When the statement `create trigger t after insert on people begin update people set age = 1; delete from people where name = 'Bo'; end; insert into people values ('Cy', 5);` runs
      Then the people are
        | name | age |
        | Ada  | 1   |
        | Cy   | 1   |

    Scenario Outline: One of them fails
      Given a database of people
      When the statement `insert into people values ('Cy', 1); <statement>` runs
      Then the tool fails because Statement 2 of 2 <reason>; nothing was changed
      And the people are
        | name | age  |
        | Ada  | 36   |
        | Bo   | None |
      And nothing lies beside the database

      Examples:
        | statement                             | reason                                                                |
        | insert into people values ('Ada', 1)  | failed: UNIQUE constraint failed: people.name                         |
        | insert or rollback into people values ('Ada', 1) | failed: UNIQUE constraint failed: people.name              |
        | selec 1                               | failed: near "selec": syntax error                                    |
        | select ?                              | failed: Incorrect number of bindings supplied. The current statement uses 1, and there are 0 supplied. |
        | vacuum                                | failed: cannot VACUUM from within a transaction                       |
        | commit                                | is not allowed: the statements are one transaction already            |
        | rollback                              | is not allowed: the statements are one transaction already            |
        | attach 'x.db' as x                    | is not allowed: `ATTACH` reaches another database                     |
        | detach main                           | is not allowed: `DETACH` is for another database                      |
        | vacuum into 'x.db'                    | failed: cannot VACUUM from within a transaction                       |
        | select load_extension('x')            | is not allowed: `load_extension` loads code                           |
        | pragma journal_mode=wal               | is not allowed: `PRAGMA journal_mode` could change more than what the database holds |
        | pragma writable_schema=1              | is not allowed: `PRAGMA writable_schema` could change more than what the database holds |
        | pragma temp_store_directory='/'       | is not allowed: `PRAGMA temp_store_directory` could change more than what the database holds |

    Scenario: Foreign keys are enforced when that is asked for
      Given a database of people
      When the statement `create table pets(owner text references people(name)); insert into pets values ('Nobody')` runs with `{"foreign_keys": true}`
      Then the tool fails because Statement 2 of 2 failed: FOREIGN KEY constraint failed; nothing was changed

    Scenario: A write-ahead log is emptied
      Given a database of people with a write-ahead log
      When the statement `delete from people where age is null; pragma user_version=7; pragma journal_mode` runs
      Then the output is "journal_mode\n------------\nwal\n1 row changed\n"
      And nothing lies beside the database

  Rule: no statement runs forever

    Scenario: A query without an end
      Given a database of people
      When the statement `with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r` has 1 second
      Then the tool fails because Statement 1 of 1 took longer than 1 seconds; nothing was changed

    Scenario: A database that stays locked
      Given a database of people
      And another program is writing to the database
      When the statement `delete from people` runs
      Then the tool fails because Another program keeps the database locked: database is locked; nothing was changed

  Rule: it needs a database

    Scenario Outline: Something else in its place
      Given the plan's database is <what>
      When the statement `select 1` runs
      Then the tool fails because <reason>
      And nothing inside or outside the sandbox has changed

      Examples:
        | what           | reason                                                            |
        | missing        | The database SANDBOX/other.db: No such file or directory          |
        | a symlink      | The database SANDBOX/other.db is not a file                       |
        | no database    | The database failed: file is not a database; nothing was changed  |
        | of no resource | `sql` runs on a `sqlite` resource                                 |

    Scenario Outline: Input that cannot be
      Given a database of people
      When the statement `<statement>` runs with `<more>`
      Then the tool fails because <reason>

      Examples:
        | statement            | more               | reason                                               |
        | select 1; select 2   | {"values": ["a"]}  | `values` are for a single statement, and there are 2 |
        | select 1             | {"format": "csv"}  | `format` must not be `csv`                           |
