Feature: Reclaiming space endangers nothing
  The new pack is durable before an old one goes, and the project's own files are never touched.

  Rule: whatever happens, the store is whole

    Scenario Outline: <fault>
      Given a store with 9 checkpoints of which 5 were dropped
      When space is reclaimed although <fault>
      Then the store says that <problem>
      And every checkpoint can be read back and git finds nothing wrong

      Examples:
        | fault                                   | problem                |
        | the disk becomes full on the way        | could not be removed   |
        | there is no room for a new pack         | more bytes on the disk |
        | git is at work in a sandbox meanwhile   | git is at work         |
        | its packs are being combined            | being combined         |
        | a commit that a branch needs is missing | could not be removed   |

    Scenario: A link in the place of the packs is not followed
      Given a store with 3 checkpoints
      And a link to other packs is in the place of its packs
      When space is reclaimed
      Then the store says that its `objects/pack` is not a directory
      And the other packs are still there

    Scenario: A store whose refs cannot be read is left as it is
      Given a store with 3 checkpoints
      And its list of refs is damaged
      When space is reclaimed
      Then the store says that `git for-each-ref` failed
      And no file of the store has changed

    Scenario: A rehearsal finds what is missing too
      Given a store with 9 checkpoints of which 5 were dropped
      When reclaiming is rehearsed although a commit that a branch needs is missing
      Then the store says that could not be removed

    Scenario: Killed at any moment, it leaves a whole store
      When reclaiming space is killed at one act after another
      Then the store was whole each time, and tidy in the end

  Rule: what is the project's stays the project's

    Scenario: The project's objects stay shared and untouched
      Given a project whose history is in packs, and a store with 8 checkpoints of it
      When space is reclaimed
      Then the project's files are the same, and still shared

    Scenario: What the project has thrown away goes, once nothing needs it
      Given a project that has repacked its history since the store was made
      When space is reclaimed
      Then the store holds what is needed and shares the rest

    Scenario: Packs with an index of the old kind are understood
      Given a store with 9 checkpoints of which 5 were dropped
      And an agent has packed everything as git did long ago
      When space is reclaimed
      Then nothing but what is needed is left in the store

    Scenario: Lookups the agent's git has made of many packs go with the packs
      Given a store with 9 checkpoints of which 5 were dropped
      And an agent has had git write an index over all packs
      When space is reclaimed
      Then every checkpoint can be read back and git finds nothing wrong

  Rule: records and snapshots of a plan agree when it is taken up

    Scenario Outline: A snapshot that no record names is dropped, after <what> was killed
      Given a plan that wrote a.txt in step one and b.txt in step two
      And <what> was killed before it was recorded
      When the plan's records and snapshots are brought into agreement
      Then the mirror keeps the snapshots of these and no others

      Examples:
        | what                                    |
        | making a checkpoint of something new    |
        | combining its first and last checkpoint |
