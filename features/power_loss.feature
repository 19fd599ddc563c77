@disk
Feature: A power failure
  A checkpoint that was recorded can be rolled back to, even if the machine lost its power right
  afterward. That includes what the agent's own git stored, which git itself does not sync.

  Scenario Outline: The power fails after a run in which the agent <acts>
    Given a disk whose power can be cut
    And a plan whose agent runs `<command>` has run there
    When the power is cut and comes back
    Then every checkpoint is whole, and the plan can go back and forth

    Examples:
      | acts                       | command                                                          |
      | commits, then removes it   | echo 1 > a; git add a; git commit -qm 1; rm a; git add a         |
      | commits many files         | for n in $(seq 60); do echo $n > f$n; done; git add -A; git commit -qm many; git rm -rqf . |
      | only stages                | echo 1 > a; git add a; echo 2 > a                                |
      | leaves a conflict          | leave a merge in progress                                        |
      | packs everything           | echo 1 > a; git add a; git commit -qm 1; git gc -q --prune=now   |

  Scenario: Objects too large to be stored once more are synced before the checkpoint's ref
    Given a sandbox in which the agent has run `head -c 300000 /dev/urandom > a; git add a; git commit -qm 1; rm a`
    And only 1000 bytes of the agent's objects are stored once more
    When a checkpoint is made while every sync is noted
    Then the agent's objects are synced, with the directories above them, before the ref is written

  Scenario: Small objects of the agent's git are stored with the snapshot
    Given a sandbox in which the agent has run `echo 1 > a; git add a; git commit -qm 1; rm a`
    When a checkpoint is made while every sync is noted
    Then no object of the agent's git is synced by itself
    And the checkpoint is whole without the agent's own objects

  Scenario Outline: The project's <count> files are synced when they are taken over
    Given a repository whose last commit has <count> files
    When its sandbox is made while every sync is noted
    Then each object of the project was synced, or everything was

    Examples:
      | count |
      | 3     |
      | 40    |
