Feature: An apply includes everything, or says what it leaves out
  Files of the sandbox that no checkpoint holds are named before the question. Unless the user has
  them applied too, the sandbox stays for them.

  Background:
    Given sandboxes are removed on_apply

  Rule: what is left out is named, and the sandbox stays

    Scenario: An ignored file
      Given a plan that ran `echo 1 > t.txt; echo 22 > result.log` after the user ran `echo '*.log' > .gitignore`
      When the user applies the plan
      Then the exit code is 3
      And the status of the answer is warn
      And left out, with 3 bytes, are result.log (ignored)
      And its sandbox holds `result.log`
      And it warns that "1 file (3 B) in no checkpoint and not applied. The sandbox is kept"

    Scenario: Files over the limit
      Given the variable CLEVERAGENTS_CHECKPOINT_MAX_FILE_SIZE is "1000"
      And a plan that ran `echo 1 > t.txt; head -c 3000 /dev/zero > large; head -c 2000 /dev/zero >> b.txt` after the user ran `echo 1 > b.txt`
      When the user applies the plan
      Then the exit code is 3
      And left out, with 5002 bytes, are b.txt (larger than 1000 bytes); large (larger than 1000 bytes)
      And its sandbox holds `large`

    Scenario: A tracked file over the limit is not deleted
      Given the variable CLEVERAGENTS_CHECKPOINT_MAX_FILE_SIZE is "1000"
      And a plan that ran `head -c 2000 /dev/zero >> b.txt` after the user ran `echo 1 > b.txt`
      When the user runs `agents plan diff PLAN --format json` for it
      Then the difference is b.txt not captured

    Scenario: Only the first are named
      Given a plan that ran `for i in $(seq 10 39); do echo 1 > $i.log; done` after the user ran `echo '*.log' > .gitignore`
      When the user answers "n" when asked to apply
      Then the error output says "30 files (60 B) in no checkpoint and not applied:"
      And the error output says "  29.log (ignored), 2 B"
      And the error output says "  … and 10 more"
      And the error output says "Add `--include-ignored PATTERN` or `--include-ignored all` to apply them too"

    Scenario: The limit is named with the file
      Given the variable CLEVERAGENTS_CHECKPOINT_MAX_FILE_SIZE is "1000"
      And a plan that ran `head -c 3000 /dev/zero > large` after the user ran `true`
      When the user answers "n" when asked to apply
      Then the error output says "large (larger than 1000 bytes, see `sandbox.checkpoint.max-file-size`), 2.9 KB"

    Scenario: A dry run says so too
      Given a plan that ran `echo 22 > result.log` after the user ran `echo '*.log' > .gitignore`
      When the user applies the plan with `--dry-run`
      Then left out, with 3 bytes, are result.log (ignored)
      And it warns that "1 file (3 B) in no checkpoint and not applied. Add `--include-ignored"

    Scenario: What lies beside a database
      Given a plan on a database that also left notes.txt beside it
      When the user applies the plan
      Then the exit code is 3
      And left out, with 3 bytes, are notes.txt (not part of the database)

    Scenario: A kill changes nothing of that
      Given a plan that ran `echo 1 > t.txt; echo 22 > result.log` after the user ran `echo '*.log' > .gitignore`
      And the unsaved apply was killed at apply-journaled
      When the user applies the plan
      Then the exit code is 3
      And left out, with 3 bytes, are result.log (ignored)
      And its sandbox holds `result.log`

  Rule: what is not a result is not a warning

    Scenario: What a tool can make again
      Given a plan that ran `mkdir -p a/node_modules .venv/lib; echo 1 > a/node_modules/f; echo 1 > .venv/lib/f` after the user ran `printf 'node_modules\n.venv\n' > .gitignore`
      When the user applies the plan
      Then the exit code is 0
      And the answer's messages include "Not applied, because a tool can make it again: .venv, a/node_modules"
      And the sandbox is gone

    Scenario: Another setting
      Given the variable CLEVERAGENTS_SANDBOX_REBUILDABLE is "build"
      And a plan that ran `mkdir -p build .venv; echo 1 > build/f; echo 22 > .venv/f` after the user ran `printf 'build\n.venv\n' > .gitignore`
      When the user applies the plan
      Then left out, with 3 bytes, are .venv/f (ignored)

    Scenario: The project has the same
      Given a plan that ran `echo 1 > t.txt; echo 22 > result.log; ln -s x l.log` after the user ran `echo '*.log' > .gitignore`
      And the user has since run `echo 22 > result.log; ln -s x l.log`
      When the user applies the plan
      Then the exit code is 0

    Scenario Outline: In a directory with a file that was over the limit from the start: <what>
      Given the variable CLEVERAGENTS_CHECKPOINT_MAX_FILE_SIZE is "1000"
      And a plan on a directory with the file `large` of 2000 bytes that ran `<run>`
      When the user applies the plan
      Then the exit code is <code>

      Examples:
        | what                         | run                                  | code |
        | the plan left it alone       | echo 1 > t.txt                       | 0    |
        | the plan only touched it     | echo 1 > t.txt; touch large          | 0    |
        | the plan changed it          | echo 1 >> large                      | 3    |
        | the plan changed it in place | printf 1 \| dd of=large conv=notrunc | 3    |
        | the plan made it small       | echo 1 > large                       | 3    |
        | the plan deleted it          | rm large                             | 3    |
        | the plan made a link of it   | rm large; ln -s t large              | 3    |
        | the plan made a pipe         | echo 1 > t.txt; mkfifo p             | 3    |

    Scenario: A pipe that the plan made is named
      Given a plan that ran `echo 1 > t.txt; mkfifo p` after the user ran `true`
      When the user applies the plan
      Then left out, with 0 bytes, are p (special file: fifo)
