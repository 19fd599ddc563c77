Feature: Applying what no checkpoint holds
  The user can have such files applied too. Otherwise the user decides when the sandbox goes.

  Background:
    Given sandboxes are removed on_apply

  Rule: it can be applied too

    Scenario Outline: With <options>
      Given a plan that ran `mkdir -p out/d; echo 1 > a.log; echo 22 > out/d/b.log; ln -s t out/l; chmod 600 a.log` after the user ran `printf '*.log\nout/\n' > .gitignore`
      When the user applies the plan with `<options>`
      Then the exit code is <code>
      And the project has <files>
      And git says in the project
        | command                | expected |
        | git status --porcelain |          |

      Examples:
        | options                                             | files                   | code |
        | --include-ignored all                               | a.log out/d/b.log out/l | 0    |
        | --include-ignored *.log                             | a.log out/d/b.log       | 3    |
        | --include-ignored a.log --include-ignored out/l     | a.log out/l             | 3    |

    Scenario: Files over the limit are committed
      Given the variable CLEVERAGENTS_CHECKPOINT_MAX_FILE_SIZE is "1000"
      And a plan that ran `head -c 3000 /dev/zero > large; head -c 2000 /dev/zero >> b.txt` after the user ran `echo 1 > b.txt`
      When the user applies the plan with `--include-ignored all`
      Then the exit code is 0
      And git says in the project
        | command                                               | expected     |
        | git show --format= --name-only -m --first-parent HEAD | b.txt; large |
        | git status --porcelain                                |              |

    Scenario: A branch has no ignored files
      Given a plan that ran `echo 1 > t.txt; echo 22 > result.log` after the user ran `echo '*.log' > .gitignore`
      When the user applies the plan with `--include-ignored all --branch new`
      Then the exit code is 3
      And left out, with 3 bytes, are result.log (ignored)

    Scenario: The user has another file there
      Given a plan that ran `echo 1 > t.txt; echo 22 > result.log` after the user ran `echo '*.log' > .gitignore`
      And the user has since run `echo mine > result.log`
      When the user applies the plan with `--include-ignored all`
      Then the error's code is uncommitted_changes
      And the project is as it was

    Scenario: An earlier attempt does not count
      Given a plan that ran `echo 1 > t.txt; echo 22 > result.log` after the user ran `echo '*.log' > .gitignore`
      And the user has tried it with `--dry-run --include-ignored all`
      When the user applies the plan
      Then left out, with 3 bytes, are result.log (ignored)

    Scenario: They keep changing
      Given a plan that ran `echo 22 > result.log` after the user ran `echo '*.log' > .gitignore`
      And files change while they are read
      When the user applies the plan with `--include-ignored all`
      Then the exit code is 7
      And the error tells that "What no checkpoint holds could not be stored: files of the sandbox keep changing"

  Rule: the user decides when the sandbox goes

    Scenario: It is discarded
      Given a plan that ran `echo 1 > t.txt; echo 22 > result.log` after the user ran `echo '*.log' > .gitignore`
      And the plan has been applied with something left out
      When the user runs `agents plan cancel PLAN --discard --yes` for it
      Then the exit code is 0
      And the plan is apply/applied with 1 steps done
      And the sandbox is gone

    Scenario: That of a plan that was cancelled before
      Given a plan that has run and was cancelled
      When the user runs `agents plan cancel PLAN --discard --yes` for it
      Then the exit code is 0
      And the sandbox is gone

    Scenario: The sandbox is already gone
      Given a plan that was applied
      When the user runs `agents plan cancel PLAN --discard --yes` for it
      Then the exit code is 4
