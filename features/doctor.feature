Feature: Looking at the whole installation
  `agents doctor` looks at versions, directories, records and stores. It says what is wrong and what
  helps, and changes nothing.

  Rule: where nothing is wrong, it says so

    Scenario: A healthy installation
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user has the installation checked
      Then the exit code is 0
      And the messages are Found no problems
      And every check is ok
      And nothing has changed anywhere

    Scenario: There is nothing yet
      When the user has it checked where nothing was ever run
      Then the exit code is 0
      And every check is ok
      And it says that there is neither a home directory nor a database
      And there is still no home directory

    Scenario: It does not matter where the user is
      Given the current directory has been removed
      When the user has it checked where nothing was ever run
      Then the exit code is 0
      And every check is ok

    Scenario: A plan on a resource of which nothing is kept
      Given a project with a directory `data` and a database `app.db` that git ignores
      And a plan on `data` that requires no sandbox
      When the plan is run and the installation checked
      Then the exit code is 0
      And every check is ok

    Scenario: Versions and paths are shown
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user has the installation checked
      Then the versions are those of the programs that are used
      And the paths are those of the scenario

    Scenario: The disk use of projects and plans is shown
      Given a project with a directory `data` and a database `app.db` that git ignores
      And a plan on all three whose steps write to all of them
      When the plan is run and the installation checked
      Then each of the three stores and sandboxes has the size it has on disk
      And the total is the size of the home directory

    Scenario: Reading the stored bytes back can be left out
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage: stored bytes are gone
      When the user has the installation checked quickly
      Then the exit code is 0
      And the check "snapshots" is ok: their bytes were not read back

    Scenario: On a terminal a bar shows how far the reading is
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user sits before a terminal
      When the user has the installation checked
      Then a bar of the reading was drawn to its end

    Scenario: A database on a server is checked too
      Given the settings name a new database of a PostgreSQL server
      And a plan that wrote a.txt in step one and b.txt in step two
      When the user has the installation checked
      Then the exit code is 0
      And every check is ok
      And the check "database" is ok: PostgreSQL with the schema

    Scenario Outline: <format> tells what is wrong, and what helps
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage: others may look into the home directory
      When the user reads about the installation as <format>
      Then the exit code is 1
      And it shows the mode of the home directory and how to fix it

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |
        | json   |
        | yaml   |

  Rule: what is wrong is found, and left as it is

    Scenario Outline: <damage>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage: <damage>
      When the user has the installation checked
      Then the exit code is <code>
      And the check "<check>" is <status>: <finding>
      And nothing has changed anywhere

      Examples: The machine
        | damage                                      | code | check         | status  | finding                          |
        | git is missing                              | 1    | git           | problem | git cannot be started            |
        | git is too old                              | 1    | git           | problem | git version 2.30.2 is too old    |
        | others may look into the home directory     | 1    | home          | problem | has the mode 0755                |
        | there is an unknown setting                 | 1    | configuration | problem | Unknown setting                  |
        | the project sets what only the user may set | 1    | configuration | problem | cannot be set by a project       |
        | the setting for the database cannot be used | 1    | configuration | problem | must name a file by its absolute |

      Examples: The records
        | damage                                             | code | check                  | status  | finding                          |
        | there is no server for the database                | 1    | database               | problem | server cannot be used            |
        | the schema is newer                                | 1    | database               | problem | a schema that this program       |
        | the schema is older                                | 0    | database               | warning | has the older schema             |
        | a page of the database is damaged                  | 1    | database               | problem | is damaged                       |
        | rows of the database refer to others that are gone | 1    | database               | problem | refer to rows of `plans`         |
        | a plan in the database cannot be read              | 1    | database               | problem | cannot be read (table `plans`)   |
        | a group in the database cannot be read             | 1    | records                | problem | cannot be read                   |
        | the project has been deleted                       | 0    | projects               | warning | /project; 1 plan came from there |
        | a plan was interrupted                             | 0    | interrupted-plans      | warning | Left unfinished by a process     |
        | a plan was interrupted                             | 0    | leases                 | warning | Stale leases of ended processes  |
        | a rollback was interrupted                         | 1    | interrupted-operations | problem | Left unfinished: rollback of     |

      Examples: Stores and sandboxes
        | damage                                                  | code | check              | status  | finding                               |
        | the sandbox of a finished plan has been deleted         | 0    | missing-sandboxes  | warning | SANDBOX cannot be used: it is missing |
        | the sandbox of a plan that is to go on has been deleted | 1    | missing-sandboxes  | problem | SANDBOX cannot be used: it is missing |
        | there is a directory of an unknown plan                 | 0    | orphaned-sandboxes | warning | does not know 01BX5ZZKBKACTAV9WEVGEM  |
        | there is a sandbox that a known plan does not have      | 0    | orphaned-sandboxes | warning | sandboxes/PLAN/data                   |
        | there is a sandbox with snapshots of an unknown plan    | 0    | quarantine         | warning | kept: 01ARZ3NDEKTSV4RRFFQ69G5FAV (    |
        | there is a sandbox with snapshots of an unknown plan    | 0    | orphaned-snapshots | warning | does not know 01ARZ3NDEKTSV4RRFFQ69G  |
        | there is a directory that is not ours                   | 0    | orphaned-sandboxes | ok      | Every sandbox on disk belongs to a    |
        | there is a snapshot that no record names                | 0    | orphaned-snapshots | warning | refs/cleveragents/snapshots/PLAN      |
        | there is half a sandbox                                 | 0    | leftovers          | warning | B of unfinished sandboxes             |
        | a killed run has left half a pack                       | 0    | leftovers          | warning | tmp_pack_cleveragents_1_00112233      |
        | the database was lost, and a new one made               | 0    | orphaned-snapshots | warning | it may be older than that mirror      |
        | stored bytes are gone                                   | 1    | snapshots          | problem | 2 of 6 checkpoints cannot be restored |
        | an agent has deleted the refs of the snapshots          | 1    | snapshots          | problem | 6 of 6 checkpoints cannot be restored |
        | all stores are gone                                     | 1    | snapshots          | problem | cannot be used: No such file          |
        | the refs of a store are damaged                         | 1    | stores             | problem | `git for-each-ref` failed             |
        | a store is in use                                       | 0    | stores             | warning | it is in use                          |
        | the lock of a store is a directory                      | 1    | stores             | problem | Is a directory                        |
        | nobody may look into the stores                         | 1    | records            | problem | mirrors cannot be read                |
        | nobody may look into the stores                         | 1    | disk               | problem | mirrors cannot be read                |

    Scenario Outline: <damage>, so that there is nothing more to look at
      Given the installation has this damage: <damage>
      When the user has the installation checked
      Then the exit code is 1
      And the error has the code unhealthy and names what helps
      And the check "home" is problem: <finding>

      Examples:
        | damage                                       | finding            |
        | a file is in the place of the home directory | is not a directory |
        | the home directory would be below a file     | Not a directory    |

    Scenario: A disk that is nearly full
      Given a plan that wrote a.txt in step one and b.txt in step two
      And there are 200 MB left on the disk
      When the user has the installation checked
      Then the exit code is 0
      And the check "home" is warning: Only 200.0 MB are free
