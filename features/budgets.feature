Feature: What a checkpoint may cost
  A user can say what is too much: a file, all checkpoints of a plan together, the time to look. What
  exceeds is named with its reason, is never touched by a rollback, and is kept again as soon as it can be.

  Rule: what exceeds is named, and comes back when it may

    Scenario Outline: <case>
      Given a sandbox in which the agent has run `<before>`
      And a checkpoint was made under <first limit>
      When the agent runs `<after>`, and a checkpoint is made under <second limit>
      Then the first checkpoint left out <first>, and the second <second>

      Examples:
        | case                                | before                                             | first limit             | after                             | second limit            | first                       | second                       |
        | A large file                        | head -c 5000 /dev/zero > large; echo 1 > small     | max-file-size 4 kB      | true                              | max-file-size 4 kB      | large (larger than 3.9 KiB) | large (larger than 3.9 KiB)  |
        | A file that shrinks                 | head -c 5000 /dev/zero > large                     | max-file-size 4 kB      | echo 1 > large                    | max-file-size 4 kB      | large (larger than 3.9 KiB) | nothing                      |
        | A file that grows                   | echo 1 > f                                         | max-file-size 4 kB      | head -c 5000 /dev/zero > f        | max-file-size 4 kB      | nothing                     | f (larger than 3.9 KiB)      |
        | The limit is lifted                 | head -c 5000 /dev/zero > large                     | max-file-size 4 kB      | sleep 0.1                         | no limit                | large (larger than 3.9 KiB) | nothing                      |
        | Too much altogether                 | head -c 50000 /dev/urandom > f                     | max-size-per-plan 20 kB | echo 1 > g                        | max-size-per-plan 20 kB | f (the snapshots of the plan have reached their limit) | f (the snapshots of the plan have reached their limit) |
        | More is allowed altogether          | head -c 50000 /dev/urandom > f                     | max-size-per-plan 20 kB | sleep 0.1                         | max-size-per-plan 1 MB  | f (the snapshots of the plan have reached their limit) | nothing |
        | No time to look                     | mkdir d; echo 1 > d/f                              | deadline 0.000001       | sleep 0.1                         | no limit                | d (it was not reached before the deadline) | nothing       |
        | An ignored name is wanted           | echo '*.log' > .gitignore; echo 1 > a.log; mkdir d; echo 1 > d/b.log; echo 1 > c.log | include-ignored a.log, b* | true | include-ignored a.log, b* | c.log (ignored)         | c.log (ignored)              |
        | A path in an ignored directory      | echo 'out/' > .gitignore; mkdir -p out/keep out/x; echo 1 > out/keep/f; echo 1 > out/x/f; echo 1 > out/g | include-ignored out/keep | true | include-ignored out/keep | out/g (ignored); out/x/ (ignored) | out/g (ignored); out/x/ (ignored) |
        | Everything ignored is wanted        | echo '*.log' > .gitignore; echo 1 > a.log          | include-ignored all     | true                              | include-ignored all     | nothing                     | nothing                      |
        | It is wanted from now on            | echo '*.log' > .gitignore; echo 1 > a.log; mkdir d.log; echo 1 > d.log/f | no limit | sleep 0.1                  | include-ignored all     | a.log (ignored); d.log/ (ignored) | nothing                |
        | A path in it is wanted from now on  | echo 'out/' > .gitignore; mkdir out; echo 1 > out/f; echo 1 > out/g | no limit | sleep 0.1                       | include-ignored out/f   | out/ (ignored)              | out/g (ignored)              |

  Rule: a rollback does not touch what exceeds

    Scenario: A file that is too large stays as it is
      Given a sandbox in which the agent has run `head -c 5000 /dev/zero > large; echo 1 > small`
      And snapshots are made under max-file-size 4 kB
      When the agent runs `head -c 6000 /dev/zero > large; echo 2 > small`, and then the sandbox is rolled back
      Then afterwards the agent's `wc -c < large; cat small` says `6000 1`
      And what was left alone is large (larger than 3.9 KiB)

    Scenario Outline: What has become too much is not overwritten: <case>
      Given a sandbox in which the agent has run `echo 1 > f; mkdir d; echo 1 > d/f`
      And snapshots are made under <limit>
      When the agent runs `<after>`, and then the sandbox is rolled back
      Then it cannot be rolled back, because The rollback would overwrite what no checkpoint holds: <path>, and nothing has been touched

      Examples:
        | case                 | limit                   | after                                     | path |
        | a file               | max-file-size 4 kB      | head -c 5000 /dev/zero > f                | f    |
        | below what was one   | max-file-size 4 kB      | rm f; mkdir f; head -c 5000 /dev/zero > f/g | f/g |
        | altogether           | max-size-per-plan 20 kB | head -c 50000 /dev/urandom > d/f          | d/f  |

  Rule: a full disk is noticed before anything is written

    Scenario: There is not enough room
      Given a sandbox in which the agent has run `echo 1 > f`
      And there is a checkpoint, and then the agent has run `echo 2 > f`
      And a sandbox in which the agent has run `head -c 3000000 /dev/urandom > large`
      And the disk is nearly full
      When the user wants to checkpoint
      Then it fails, because There is not enough room for the snapshot: it needs 2.9 MB
      And nothing has been written to the store
      And with room again, everything is as it was and can be done

  Rule: the settings hold for plans

    Scenario: A plan lists what it left out
      Given the variable CLEVERAGENTS_CHECKPOINT_MAX_FILE_SIZE is "4 kB"
      And a plan with the steps
        | step | does                                   |
        | one  | runs `head -c 5000 /dev/zero > large`  |
      When the user runs the plan
      Then the exit code is 0
      And the checkpoint "after one" lists large as left out, because larger than 3.9 KiB

    Scenario: A rollback over it is refused
      Given a plan with the steps
        | step | does                                       |
        | one  | runs `head -c 5000 /dev/zero > README.md`  |
      And the variable CLEVERAGENTS_CHECKPOINT_MAX_FILE_SIZE is "4 kB"
      And the plan has run
      When the user rolls the plan back to "before execution"
      Then it is refused with the code 4 and the sentence The rollback would overwrite what no checkpoint holds: README.md
      And nothing has changed

    Scenario: A deadline that is over stops a plan that requires checkpoints
      Given the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is "0.000001"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      When the user runs the plan
      Then the exit code is 8
      And the error is "Step 1 of 1 (`one`) failed: The checkpoint `after one` is partial: its deadline passed before everything was read; and the sandbox could not be rolled back: The checkpoint `failed: one` is partial: its deadline passed before everything was read"

    Scenario: With more time the plan can be gone on with
      Given the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is "0.000001"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has failed
      And the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is gone again
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo by one > a.txt`
      And the checkpoint "after execution" lists nothing as left out and is whole

    Scenario: A plan that can do without checkpoints is warned
      Given the variable CLEVERAGENTS_CHECKPOINT_DEADLINE is "0.000001"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan can do without checkpoints
      When the user runs the plan
      Then the exit code is 0
      And it warns that "The checkpoint `after one` is partial: its deadline passed before everything was read"

    Scenario Outline: A value that makes no sense is refused: <value> for <key>
      Given the variable CLEVERAGENTS_CHECKPOINT_<variable> is "<value>"
      When the user runs "agents config get sandbox.checkpoint.<key>"
      Then the exit code is 10
      And the error output says "<why>"

      Examples:
        | key               | variable          | value      | why                                                  |
        | max-file-size     | MAX_FILE_SIZE     | large      | it must be a size such as 500 kB, 20 MB or 1.5 GiB   |
        | max-file-size     | MAX_FILE_SIZE     | 0          | it must be a size such as 500 kB, 20 MB or 1.5 GiB   |
        | max-size-per-plan | MAX_SIZE_PER_PLAN | 5 parsecs  | it must be a size such as 500 kB, 20 MB or 1.5 GiB   |
        | deadline          | DEADLINE          | 0          | it must be a number of seconds, more than 0          |
        | deadline          | DEADLINE          | soon       | it must be a number of seconds, more than 0          |
        | include-ignored   | INCLUDE_IGNORED   | !a         | is not a path pattern inside the project             |
        | include-ignored   | INCLUDE_IGNORED   | ../a       | is not a path pattern inside the project             |
        | include-ignored   | INCLUDE_IGNORED   | /          | is not a path pattern                                |
