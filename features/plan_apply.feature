Feature: Bringing a plan's result into the project
  Applying merges what the plan changed into the project's branch and files, and into nothing else.

  Background:
    Given a plan that ran `echo new > new.txt; sed -i s/9$/nine/ list.txt; rm src/app.py; mkdir -p a/b; chmod 600 run.sh` on a project with a list of 19 lines

  Rule: the result is merged into the branch and the files

    Scenario: The files are those of the sandbox, and a merge commit names the plan
      When the user applies the plan
      Then the project's files are those of the sandbox
      And the plan is apply/applied with 1 steps done
      And git says in the project
        | command                              | expected                               |
        | git status --porcelain               |                                        |
        | git log -1 --format=%s               | Apply plan local/shop                  |
        | git log -1 --format='%(trailers)'    | Plan: PLAN                             |
        | git rev-parse HEAD^1 HEAD^2^ \| uniq \| wc -l | 1                             |
        | git reflog -1 --format=%gs           | plan apply PLAN                        |
        | git symbolic-ref HEAD                | refs/heads/main                        |
        | git fsck --connectivity-only         |                                        |

    Scenario: The checkpoint before it belongs to the apply
      When the user applies the plan
      Then the checkpoint "before apply" is recorded as
        | checkpoint_type | phase | trigger   |
        | pre_apply       | apply | pre_apply |

    Scenario: It says what was applied
      When the user applies the plan
      Then the apply says
        | path       | status       | change |
        | list.txt   | modified     | +2 -2  |
        | new.txt    | added        | +1 -0  |
        | run.sh     | mode changed | +0 -0  |
        | src/app.py | deleted      | +0 -1  |
      And the apply says how long the plan took

    Scenario: Left in the working tree
      When the user applies the plan with `--no-commit`
      Then the project's files are those of the sandbox
      And the project's branch, index and reflog are as they were
      And the plan is apply/applied with 1 steps done

    Scenario: Only as a branch
      When the user applies the plan with `--branch result`
      Then the exit code is 0
      And the plan is apply/applied with 1 steps done
      And git says in the project
        | command                                     | expected                                    |
        | git status --porcelain                      |                                             |
        | git diff --name-status main result          | M list.txt; A new.txt; M run.sh; D src/app.py |
        | git rev-parse main result^ \| uniq \| wc -l | 1                                           |

  Rule: it is done once, and only with a plan that has run

    Scenario: Twice is refused
      Given the plan has been applied
      When the user applies the plan
      Then it is refused with the code 4 and the sentence A plan in apply/applied cannot be applied
      And the project is as it was

    Scenario: An applied plan is not rolled back
      Given the plan has been applied
      When the user rolls the plan back to "before execution"
      Then it is refused with the code 4 and the sentence The plan is applied and cannot be rolled back: PLAN

    Scenario: A plan that was rolled back has to run first
      Given the plan was rolled back to "before execution"
      When the user applies the plan
      Then it is refused with the code 4 and the sentence A plan in execute/queued cannot be applied

    Scenario: A rollback to the end of the run leaves nothing to run
      Given the sandbox was changed by hand
      And the plan was rolled back to "after execution"
      When the user applies the plan
      Then the project's files are those of the sandbox
      And the plan is apply/applied with 1 steps done

    Scenario: What nobody has reviewed is not applied
      Given the sandbox was changed by hand
      When the user applies the plan
      Then the error's code is sandbox_changed
      And the project is as it was

  Rule: the user is asked first

    Scenario: Nobody can be asked
      When the user applies the plan without saying yes
      Then the exit code is 2
      And the project is as it was

    Scenario: The answer is no
      When the user answers "n" when asked to apply
      Then the exit code is 1
      And the project is as it was

    Scenario: The answer is yes
      When the user answers "y" when asked to apply
      Then the project's files are those of the sandbox

    Scenario: A dry run only tells
      When the user applies the plan with `--dry-run`
      Then the exit code is 0
      And the project is as it was
      And the plan is execute/complete with 1 steps done
