@disk
Feature: A child plan starts from a copy of its parent's sandbox
  A fork is exactly one snapshot of another sandbox, and shares its store. What every fork
  promises is written down once, in `cleveragents.testing.forks`.

  Rule: Each fork keeps every promise

    Scenario Outline: With <strategy>, <promise>
      Given sandboxes to fork, made by <strategy>
      When the fork is to prove that <promise>
      Then the fork has proved it

      Examples: git_worktree
        | strategy        | promise                              |
        | git_worktree    | forks are exact                      |
        | git_worktree    | forks are known at once              |
        | git_worktree    | forks are apart                      |
        | git_worktree    | forks follow the snapshot            |
        | git_worktree    | forks need no source                 |
        | git_worktree    | forks can be made again              |
        | git_worktree    | forks can be forked                  |
        | git_worktree    | forks go on while watching           |
        | git_worktree    | unknown snapshots cannot be forked   |
        | git_worktree    | special files are not forked         |
        | git_worktree    | ignored files come along             |
        | git_worktree    | captured files stay captured         |
        | git_worktree    | later rules do not count             |
        | git_worktree    | what is in the way is not forked     |
        | git_worktree    | forks have a branch of their own     |
        | git_worktree    | forks of other branches are detached |
        | git_worktree    | unborn branches can be forked        |
        | git_worktree    | indexes with flags can be forked     |
        | git_worktree    | what git has begun stays behind      |
        | git_worktree    | packed refs lead to snapshots        |
        | git_worktree    | ignored files are in the way         |
        | git_worktree    | ignored files can be merged          |

      Examples: filesystem_copy
        | strategy        | promise                              |
        | filesystem_copy | forks are exact                      |
        | filesystem_copy | forks are known at once              |
        | filesystem_copy | forks are apart                      |
        | filesystem_copy | forks follow the snapshot            |
        | filesystem_copy | forks need no source                 |
        | filesystem_copy | forks can be made again              |
        | filesystem_copy | forks can be forked                  |
        | filesystem_copy | forks go on while watching           |
        | filesystem_copy | unknown snapshots cannot be forked   |
        | filesystem_copy | special files are not forked         |

      Examples: overlay
        | strategy        | promise                              |
        | overlay         | forks are exact                      |
        | overlay         | forks are apart                      |
        | overlay         | forks follow the snapshot            |
        | overlay         | forks need no source                 |
        | overlay         | forks can be made again              |
        | overlay         | forks can be forked                  |
        | overlay         | forks go on while watching           |
        | overlay         | unknown snapshots cannot be forked   |
        | overlay         | special files are not forked         |

    Scenario Outline: With <strategy> it is not promised that <promise>
      Given sandboxes to fork, made by <strategy>
      When the fork is to prove that <promise>
      Then the fork says that this is not offered

      Examples: filesystem_copy
        | strategy        | promise                              |
        | filesystem_copy | ignored files come along             |
        | filesystem_copy | captured files stay captured         |
        | filesystem_copy | later rules do not count             |
        | filesystem_copy | what is in the way is not forked     |
        | filesystem_copy | forks have a branch of their own     |
        | filesystem_copy | forks of other branches are detached |
        | filesystem_copy | unborn branches can be forked        |
        | filesystem_copy | indexes with flags can be forked     |
        | filesystem_copy | what git has begun stays behind      |
        | filesystem_copy | packed refs lead to snapshots        |
        | filesystem_copy | ignored files are in the way         |
        | filesystem_copy | ignored files can be merged          |

      Examples: overlay
        | strategy        | promise                              |
        | overlay         | forks are known at once              |
        | overlay         | ignored files come along             |
        | overlay         | captured files stay captured         |
        | overlay         | later rules do not count             |
        | overlay         | what is in the way is not forked     |
        | overlay         | forks have a branch of their own     |
        | overlay         | forks of other branches are detached |
        | overlay         | unborn branches can be forked        |
        | overlay         | indexes with flags can be forked     |
        | overlay         | what git has begun stays behind      |
        | overlay         | packed refs lead to snapshots        |
        | overlay         | ignored files are in the way         |
        | overlay         | ignored files can be merged          |

    Scenario: Those lists are complete
      When somebody counts the promises about forks
      Then the feature `forks.feature` lists each of them

    Scenario Outline: Of forked databases, <claim>
      Given databases to fork
      When the forked database is to prove that <claim>
      Then the fork has proved it

      Examples:
        | claim                             |
        | databases are forked              |
        | databases are forked as they were |
        | missing databases are forked      |
        | forked databases are merged       |

    Scenario: The list of databases is complete
      When somebody counts the promises about forked databases
      Then each of them is listed

    Scenario: Without isolation, parent and child work on the same thing
      Given a directory without isolation
      When it is forked, and the fork merged into it
      Then both are the directory itself, and nothing was merged

    Scenario: What only the index of a fork names is kept by its own snapshots
      Given sandboxes to fork, made by git_worktree
      And the parent's agent has staged what no tree can hold
      When somebody forks one
      Then a snapshot of the fork keeps all that the parent's keeps for its index

  Rule: A fork is whole or not there

    Scenario Outline: It cannot be made because <fault>
      Given sandboxes to fork, made by <strategy>
      And a fork will fail because <fault>
      When somebody forks one
      Then that is refused because <reason>
      And nothing of the fork is left, and the source is as it was

      Examples:
        | strategy        | fault                        | reason                        |
        | git_worktree    | the disk is full half-way    | The sandbox could not be created |
        | git_worktree    | there is hardly any room     | a copy needs                  |
        | git_worktree    | git fails at the end         | git read-tree                 |
        | git_worktree    | the source has a broken copy | differs from what was stored  |
        | filesystem_copy | the disk is full half-way    | The sandbox could not be created |
        | filesystem_copy | the stored bytes are gone    | is missing in                 |

    Scenario: One that cannot be made again is not forgotten
      Given sandboxes to fork, made by filesystem_copy
      And a fork of one, whose snapshot its parent has dropped
      When the fork is made again on a full disk, and then when there is room
      Then the fork is what the snapshot says

    Scenario Outline: It is exact although <circumstance>
      Given sandboxes to fork, made by <strategy>
      And while one is copied <circumstance>
      When somebody forks one
      Then the fork is what the snapshot says

      Examples:
        | strategy        | circumstance                             |
        | git_worktree    | a file is changed and changed back       |
        | filesystem_copy | a file is changed and changed back       |
        | filesystem_copy | a directory comes and goes               |
        | filesystem_copy | the clock of the computer is set         |
        | git_worktree    | the rules of what is ignored cannot be read |

    Scenario: What may not be read is left out and named
      Given sandboxes to fork, made by filesystem_copy
      And the parent's agent has closed a file and a directory
      When an ordinary user forks one
      Then the fork lacks what was closed, and says so

  Rule: The snapshot that a fork started as is kept, even if its plan is unknown

    Scenario Outline: Space is reclaimed while the child's plan is <known>
      Given sandboxes to fork, made by filesystem_copy
      And a fork of one, whose snapshot its parent has dropped
      When space is reclaimed, and the child's plan is <known>
      Then the fork can still be made again

      Examples:
        | known   |
        | known   |
        | unknown |
