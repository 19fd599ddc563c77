Feature: Applying while somebody or something else is at work
  The user may commit or edit at the same moment, the disk may be full, the project read-only. The
  project then has the plan's result, or nothing of it.

  Background:
    Given a plan that ran `echo new > new.txt; sed -i s/19/last/ list.txt` on a project with a list of 19 lines

  Rule: what the user does at that moment is not lost

    Scenario Outline: At <point> the user <does>
      Given the user runs `<command>` when the apply is at <point>
      When the user applies the plan
      Then the error's code is target_changed
      And the project is as the user left it
      And the plan is execute/complete with 1 steps done

      Examples:
        | point          | does                     | command                                                                   |
        | apply-journaled | commits                 | echo 2 > mine.txt; git add -A; git commit -qm mine                        |
        | apply-journaled | stages something        | echo 2 > mine.txt; git add -A                                             |
        | apply-journaled | edits such a file       | sed -i '2s/2/two/' list.txt                                               |
        | apply-journaled | checks out another branch | git checkout -q -b other                                                |
        | apply-journaled | begins a long command   | touch .git/index.lock                                                     |
        | target-locked  | edits such a file        | sed -i '2s/2/two/' list.txt                                               |
        | target-written | ends a commit begun before | git update-ref HEAD $(git commit-tree -p HEAD -m mine HEAD^{tree})      |

    Scenario: Once it has begun, no other git gets in
      Given the user runs `echo 2 > README.md; git commit -qam mine 2> /dev/null || true` when the apply is at target-locked
      When the user applies the plan
      Then the exit code is 0
      And git says in the project
        | command                                 | expected              |
        | git log -1 --format=%s                  | Apply plan local/shop |
        | git status --porcelain                  | M README.md           |

    Scenario: The user removes the lock, and all is done all the same
      Given the user runs `rm -f .git/index.lock` when the apply is at target-written
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                                 | expected              |
        | git log -1 --format=%s                  | Apply plan local/shop |
        | git status --porcelain                  |                       |

    Scenario: What the user edits between two files is named
      Given the user runs `echo mine > new.txt` when the apply is at file-placed
      When the user applies the plan
      Then the exit code is 7
      And the error tells that "new.txt changed"

    Scenario: Another plan is applied at that moment
      Given the user applies another plan of the project when the apply is at apply-journaled
      When the user applies the plan
      Then the error's code is target_changed
      And git says in the project
        | command                                 | expected                     |
        | git log --format=%s --first-parent \| head -2 | Apply plan local/shop; list |

    Scenario: A new branch that somebody makes at that moment
      Given the user runs `git branch result` when the apply is at apply-journaled
      When the user applies the plan with `--branch result`
      Then the error's code is target_changed
      And the project is as the user left it

  Rule: where it cannot be written nothing is

    Scenario Outline: <trouble>
      Given for the apply <trouble>
      When the user applies the plan
      Then the exit code is <code>
      And the error tells that "<reason>"
      And the project is as it was

      Examples:
        | trouble                                     | code | reason                  |
        | the project can only be read                | 4    | Read-only file system   |
        | the disk is full at the second file         | 4    | No space left on device |
        | the disk is full when objects are brought   | 7    | No space left on device |
        | a file of the project is being written to   | 4    | is being written to     |

    Scenario Outline: Something keeps git from <doing>
      Given the user runs `<command>` when the apply is at <point>
      When the user applies the plan
      Then the error's code is git_failed
      And the project is as the user left it
      And the plan is apply/errored with 1 steps done

      Examples:
        | doing            | point          | command                                            |
        | taking objects   | target-locked  | rm -r .git/objects/pack; touch .git/objects/pack   |
        | moving the branch | target-written | touch .git/refs/heads/main.lock                   |

    Scenario: Recovery options are named
      Given for the apply the disk is full when objects are brought
      When the user applies the plan
      Then the plan is apply/errored with 1 steps done
      And the error names the commands agents plan apply PLAN; agents plan rollback PLAN; agents plan cancel PLAN

  Rule: it goes to the repository that the plan came from, wherever that is

    Scenario: The repository is gone, and there is one around it
      Given the user has since run `mv .git ../kept; git -C .. init -q`
      When the user applies the plan
      Then the error's code is target_refused
      And the project is as it was
