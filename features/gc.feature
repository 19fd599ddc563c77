Feature: Reclaiming space
  Rows, refs and objects go together. What is left over, `agents gc` reclaims, and says how much.

  Rule: what no checkpoint needs goes, what one needs stays

    Scenario: The bytes of dropped checkpoints are reclaimed
      Given a plan may keep 3 checkpoints
      And a plan with 40 checkpoints by hand, of which 4 are left
      When the user reclaims space
      Then the exit code is 0
      And the store holds what is needed and nothing else
      And all checkpoints can be read back
      And bytes were reclaimed, as many as the store has become smaller

    Scenario: A rehearsal says the same and changes nothing
      Given a plan may keep 3 checkpoints
      And a plan with 12 checkpoints by hand, of which 4 are left
      When the user rehearses reclaiming space
      Then the exit code is 0
      And the store is as it was
      And reclaiming space reclaims exactly what was said

    Scenario: There is nothing to reclaim twice
      Given a plan that wrote a.txt in step one and b.txt in step two
      And space has been reclaimed
      When the user reclaims space
      Then the messages are Nothing to reclaim
      And the store is as it was

    Scenario: Where there was never a plan there is nothing to do
      When the user reclaims space
      Then the exit code is 0
      And the messages are Nothing to reclaim

    Scenario: A snapshot that a killed run did not record goes
      Given a plan that wrote a.txt in step one and b.txt in step two
      And making a checkpoint of something new was killed before it was recorded
      When the user reclaims space
      Then 1 snapshot was removed
      And the mirror keeps the snapshots of these and no others
      And all checkpoints can be read back

    Scenario Outline: <format> says how much
      Given a plan may keep 3 checkpoints
      And a plan with 12 checkpoints by hand, of which 4 are left
      When the user reads what is reclaimed as <format>
      Then it says how much space was reclaimed

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |
        | yaml   |

    Scenario: On a terminal a bar shows how far it is
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user sits before a terminal
      When the user reclaims space
      Then a bar was drawn to its end

    Scenario: Directories and databases have stores too
      Given a project with a directory `data` and a database `app.db` that git ignores
      And a plan on all three whose steps write to all of them
      When the plan is run, space reclaimed, and the plan rolled back to its first checkpoint
      Then three stores were gone through, and every checkpoint was read back
      And every sandbox is as it was before the run

  Rule: what is in use is left alone

    Scenario: A running plan's store is busy
      Given a plan with the steps
        | step | does                                                                                                       |
        | one  | runs `touch OUTSIDE/begun; while ! test -e OUTSIDE/fixed && test -d OUTSIDE; do sleep 0.05; done` |
      And the plan has been made
      And another process is executing the plan
      When the user reclaims space
      Then the exit code is 3
      And its store is called busy, and nothing of it went
      And the other process ends well once the cause of its waiting is fixed

    Scenario: A store that cannot be locked is left alone
      Given a plan that wrote a.txt in step one and b.txt in step two
      And a directory is in the place of the store's lock
      When the user reclaims space
      Then the exit code is 3
      And its problem is that "Is a directory", and nothing of it went

    Scenario Outline: A store is busy when <somebody>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And <somebody>
      When the user reclaims space
      Then the exit code is 3
      And its store is called busy, and nothing of it went

      Examples:
        | somebody                                       |
        | a process has the store open                   |
        | a process that was forked has forgotten it     |
        | the project is being copied into the store     |
        | the plan is held by a process of another host  |

    Scenario: A store whose checkpoints have lost their refs is left alone
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this damage: an agent has deleted the refs of the snapshots
      When the user runs "agents gc --format json"
      Then the exit code is 3
      And the output says "some checkpoints have lost the refs that keep their snapshots"
      And every byte that the checkpoints need is still there
