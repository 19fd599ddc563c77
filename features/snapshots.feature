@disk
Feature: A snapshot can be brought back
  Every store of snapshots keeps the same promises. They are written down once, in
  `cleveragents.testing.snapshots`, for our stores and for others.

  Rule: Each store keeps every promise it makes

    Scenario Outline: In a <strategy> store, <promise>
      Given a sandbox of a <strategy> store
      When the store is to prove that <promise>
      Then the store has proved it

      Examples: git_worktree
        | strategy     | promise                               |
        | git_worktree | bytes come back                       |
        | git_worktree | equal states are one snapshot         |
        | git_worktree | different states have different hashes |
        | git_worktree | taking one changes nothing            |
        | git_worktree | permission bits come back             |
        | git_worktree | links come back as links              |
        | git_worktree | empty directories come back           |
        | git_worktree | odd names come back                   |
        | git_worktree | types may be swapped                  |
        | git_worktree | what came later is removed            |
        | git_worktree | a rollback can be undone              |
        | git_worktree | hidden edits are seen                 |
        | git_worktree | previews come true                    |
        | git_worktree | untouched files keep their identity   |
        | git_worktree | nothing outside is written            |
        | git_worktree | other names of a file are left alone  |
        | git_worktree | special files are named               |
        | git_worktree | snapshots stand alone                 |
        | git_worktree | snapshots outlive the process         |
        | git_worktree | unknown snapshots are missing         |
        | git_worktree | missing sandboxes are refused         |
        | git_worktree | lost leases lock nothing              |
        | git_worktree | repeated rollbacks find nothing to do |
        | git_worktree | differences are told                  |
        | git_worktree | long patches are cut                  |
        | git_worktree | changes are told path by path         |
        | git_worktree | changes are told while watching       |
        | git_worktree | equal snapshots need no look          |
        | git_worktree | special files count as nothing        |
        | git_worktree | what was left out is no change        |
        | git_worktree | moves of git are no changes           |
        | git_worktree | ignored files survive                 |
        | git_worktree | ignored files survive a killed rollback |
        | git_worktree | git goes back too                     |
        | git_worktree | named paths are taken                 |
        | git_worktree | all or nothing may be taken           |
        | git_worktree | spellings of a path are one           |
        | git_worktree | combined modes are exact              |
        | git_worktree | combined directories are exact        |
        | git_worktree | combined types may be swapped         |
        | git_worktree | odd names can be named                |
        | git_worktree | combined snapshots stand alone        |
        | git_worktree | combining changes nothing             |
        | git_worktree | parts can be previewed                |
        | git_worktree | combining needs no sandbox            |
        | git_worktree | combining goes on while watching      |
        | git_worktree | combining costs little                |
        | git_worktree | paths outside cannot be named         |
        | git_worktree | unknown snapshots cannot be combined  |
        | git_worktree | special files cannot be taken         |
        | git_worktree | what was left out cannot be taken     |
        | git_worktree | git stays with the base               |
        | git_worktree | what git left out stays with it       |
        | git_worktree | what one side changed is taken        |
        | git_worktree | lines are merged                      |
        | git_worktree | contested lines are marked            |
        | git_worktree | what has no lines stays mine          |
        | git_worktree | deletions are merged                  |
        | git_worktree | modes are merged                      |
        | git_worktree | directories are merged                |
        | git_worktree | what is in the way is found           |
        | git_worktree | odd names are merged                  |
        | git_worktree | merged links are not followed         |
        | git_worktree | a merge can be repeated               |
        | git_worktree | merging goes on while watching        |
        | git_worktree | unknown snapshots cannot be merged    |
        | git_worktree | special files are in the way          |
        | git_worktree | git stays where it is                 |
        | git_worktree | single paths are taken                |
        | git_worktree | directories are taken                 |
        | git_worktree | what was left out cannot be placed    |

    Scenario Outline: A <strategy> store says that it does not promise that <promise>
      Given a sandbox of a <strategy> store
      When the store is to prove that <promise>
      Then the store says that it does not offer this

      Examples: git_worktree
        | strategy     | promise                               |
        | git_worktree | hard links stay together              |
        | git_worktree | modification times come back          |
        | git_worktree | extended attributes come back         |

    Scenario: The lists above are complete
      When somebody counts the promises of snapshot stores
      Then the lists name each of them for every strategy

  Rule: A store that breaks a promise is found out

    Scenario Outline: A store that <flaw>
      Given a store of snapshots that <flaw>
      When the store is to prove that <promise>
      Then the store is caught

      Examples:
        | flaw                      | promise                         |
        | restores nothing          | bytes come back                 |
        | cannot stop storing       | equal states are one snapshot   |
        | acts already in a preview | previews come true              |
        | knows every snapshot      | unknown snapshots are missing   |
        | always combines the whole | named paths are taken           |
        | never asks who has won    | contested lines are marked      |
        | locks without the lease   | lost leases lock nothing        |
