@disk
Feature: Directories can be brought back
  The stores of copied and overlaid directories keep the promises of
  `cleveragents.testing.snapshots` as those of repositories do.

  Rule: Each store keeps every promise it makes

    Scenario Outline: In a sandbox made by <strategy>, <promise>
      Given directories in sandboxes of the strategy <strategy>
      When the store is to prove that <promise>
      Then the store has proved it

      Examples: filesystem_copy
        | strategy        | promise                                 |
        | filesystem_copy | bytes come back                         |
        | filesystem_copy | equal states are one snapshot           |
        | filesystem_copy | different states have different hashes  |
        | filesystem_copy | taking one changes nothing              |
        | filesystem_copy | permission bits come back               |
        | filesystem_copy | links come back as links                |
        | filesystem_copy | empty directories come back             |
        | filesystem_copy | odd names come back                     |
        | filesystem_copy | types may be swapped                    |
        | filesystem_copy | what came later is removed              |
        | filesystem_copy | a rollback can be undone                |
        | filesystem_copy | hidden edits are seen                   |
        | filesystem_copy | previews come true                      |
        | filesystem_copy | untouched files keep their identity     |
        | filesystem_copy | nothing outside is written              |
        | filesystem_copy | other names of a file are left alone    |
        | filesystem_copy | special files are named                 |
        | filesystem_copy | snapshots stand alone                   |
        | filesystem_copy | snapshots outlive the process           |
        | filesystem_copy | unknown snapshots are missing           |
        | filesystem_copy | missing sandboxes are refused           |
        | filesystem_copy | lost leases lock nothing                |
        | filesystem_copy | repeated rollbacks find nothing to do   |
        | filesystem_copy | differences are told                    |
        | filesystem_copy | long patches are cut                    |
        | filesystem_copy | changes are told path by path           |
        | filesystem_copy | changes are told while watching         |
        | filesystem_copy | equal snapshots need no look            |
        | filesystem_copy | special files count as nothing          |
        | filesystem_copy | named paths are taken                   |
        | filesystem_copy | all or nothing may be taken             |
        | filesystem_copy | spellings of a path are one             |
        | filesystem_copy | combined modes are exact                |
        | filesystem_copy | combined directories are exact          |
        | filesystem_copy | combined types may be swapped           |
        | filesystem_copy | odd names can be named                  |
        | filesystem_copy | combined snapshots stand alone          |
        | filesystem_copy | combining changes nothing               |
        | filesystem_copy | parts can be previewed                  |
        | filesystem_copy | combining needs no sandbox              |
        | filesystem_copy | combining goes on while watching        |
        | filesystem_copy | combining costs little                  |
        | filesystem_copy | paths outside cannot be named           |
        | filesystem_copy | unknown snapshots cannot be combined    |
        | filesystem_copy | special files cannot be taken           |
        | filesystem_copy | what one side changed is taken          |
        | filesystem_copy | lines are merged                        |
        | filesystem_copy | contested lines are marked              |
        | filesystem_copy | what has no lines stays mine            |
        | filesystem_copy | deletions are merged                    |
        | filesystem_copy | modes are merged                        |
        | filesystem_copy | directories are merged                  |
        | filesystem_copy | what is in the way is found             |
        | filesystem_copy | odd names are merged                    |
        | filesystem_copy | merged links are not followed           |
        | filesystem_copy | a merge can be repeated                 |
        | filesystem_copy | merging goes on while watching          |
        | filesystem_copy | unknown snapshots cannot be merged      |
        | filesystem_copy | special files are in the way            |
        | filesystem_copy | single paths are taken                  |
        | filesystem_copy | directories are taken                   |
        | filesystem_copy | what was left out cannot be placed      |

      Examples: overlay
        | strategy        | promise                                 |
        | overlay         | bytes come back                         |
        | overlay         | equal states are one snapshot           |
        | overlay         | different states have different hashes  |
        | overlay         | taking one changes nothing              |
        | overlay         | permission bits come back               |
        | overlay         | links come back as links                |
        | overlay         | empty directories come back             |
        | overlay         | odd names come back                     |
        | overlay         | types may be swapped                    |
        | overlay         | what came later is removed              |
        | overlay         | a rollback can be undone                |
        | overlay         | hidden edits are seen                   |
        | overlay         | previews come true                      |
        | overlay         | untouched files keep their identity     |
        | overlay         | nothing outside is written              |
        | overlay         | special files are named                 |
        | overlay         | snapshots stand alone                   |
        | overlay         | snapshots outlive the process           |
        | overlay         | unknown snapshots are missing           |
        | overlay         | lost leases lock nothing                |
        | overlay         | repeated rollbacks find nothing to do   |
        | overlay         | differences are told                    |
        | overlay         | long patches are cut                    |
        | overlay         | changes are told path by path           |
        | overlay         | changes are told while watching         |
        | overlay         | equal snapshots need no look            |
        | overlay         | special files count as nothing          |
        | overlay         | named paths are taken                   |
        | overlay         | all or nothing may be taken             |
        | overlay         | spellings of a path are one             |
        | overlay         | combined modes are exact                |
        | overlay         | combined directories are exact          |
        | overlay         | combined types may be swapped           |
        | overlay         | odd names can be named                  |
        | overlay         | combined snapshots stand alone          |
        | overlay         | combining changes nothing               |
        | overlay         | parts can be previewed                  |
        | overlay         | combining goes on while watching        |
        | overlay         | combining costs little                  |
        | overlay         | paths outside cannot be named           |
        | overlay         | unknown snapshots cannot be combined    |
        | overlay         | special files cannot be taken           |
        | overlay         | what one side changed is taken          |
        | overlay         | lines are merged                        |
        | overlay         | contested lines are marked              |
        | overlay         | what has no lines stays mine            |
        | overlay         | deletions are merged                    |
        | overlay         | modes are merged                        |
        | overlay         | directories are merged                  |
        | overlay         | what is in the way is found             |
        | overlay         | odd names are merged                    |
        | overlay         | merged links are not followed           |
        | overlay         | a merge can be repeated                 |
        | overlay         | merging goes on while watching          |
        | overlay         | unknown snapshots cannot be merged      |
        | overlay         | special files are in the way            |
        | overlay         | single paths are taken                  |
        | overlay         | directories are taken                   |
        | overlay         | what was left out cannot be placed      |

    Scenario Outline: A sandbox made by <strategy> does not promise that <promise>
      Given directories in sandboxes of the strategy <strategy>
      When the store is to prove that <promise>
      Then the store says that it does not offer this

      Examples: filesystem_copy
        | strategy        | promise                                 |
        | filesystem_copy | ignored files survive                   |
        | filesystem_copy | ignored files survive a killed rollback |
        | filesystem_copy | git goes back too                       |
        | filesystem_copy | what was left out is no change          |
        | filesystem_copy | moves of git are no changes             |
        | filesystem_copy | hard links stay together                |
        | filesystem_copy | modification times come back            |
        | filesystem_copy | extended attributes come back           |
        | filesystem_copy | what was left out cannot be taken       |
        | filesystem_copy | git stays with the base                 |
        | filesystem_copy | what git left out stays with it         |
        | filesystem_copy | git stays where it is                   |

      Examples: overlay
        | strategy        | promise                                 |
        | overlay         | other names of a file are left alone    |
        | overlay         | missing sandboxes are refused           |
        | overlay         | ignored files survive                   |
        | overlay         | ignored files survive a killed rollback |
        | overlay         | git goes back too                       |
        | overlay         | what was left out is no change          |
        | overlay         | moves of git are no changes             |
        | overlay         | hard links stay together                |
        | overlay         | modification times come back            |
        | overlay         | extended attributes come back           |
        | overlay         | combining needs no sandbox              |
        | overlay         | what was left out cannot be taken       |
        | overlay         | git stays with the base                 |
        | overlay         | what git left out stays with it         |
        | overlay         | git stays where it is                   |

    Scenario: Without git, a FIFO called .gitignore is a special file like any other
      Given directories in sandboxes of the strategy filesystem_copy
      When a snapshot is taken of one with a FIFO called .gitignore
      Then the snapshot names it as a special file

    Scenario: The lists name every promise
      When somebody counts the promises of snapshot stores
      Then the feature `directory_snapshots.feature` lists each of them
