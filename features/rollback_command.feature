Feature: The rollback command
  It lists, previews and asks before it acts; it never hangs where nobody can answer.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Rule: without a checkpoint it lists them and changes nothing

    Scenario: The list shows what there is to go back to
      When the user asks for the plan's rollback without a checkpoint
      Then the exit code is 0
      And the document lists every checkpoint
      And nothing has changed

    Scenario: --yes needs to know where to
      When the user asks for the plan's rollback without a checkpoint and with "--yes"
      Then it is refused with the code 2 and the sentence `--yes` needs the checkpoint to roll back to
      And nothing has changed

  Rule: it asks, with a preview, and takes anything but yes as no

    Scenario: Nobody is there to be asked
      When the user asks for a rollback to "after one"
      Then it is refused with the code 2 and the sentence "Roll back?" needs confirmation, but this command cannot ask for it
      And nothing has changed

    Scenario: The user says no
      Given the user sits before a terminal
      When the user answers "n" when asked for a rollback to "after one"
      Then the exit code is 1
      And the error output is
        """
        Rolling back to `after one` would restore 0 paths, remove 1 path, undo 1 tool
        call and set aside 3 checkpoints.
          remove   b.txt
        The current state is saved as a checkpoint first.
        Roll back? [y/N]
        """
      And the output says "Nothing was changed"
      And nothing has changed

    Scenario: The user says yes and sees what was done
      Given the user sits before a terminal
      When the user answers "y" when asked for a rollback to "after one"
      Then the exit code is 0
      And the output has, in this order
        | Rollback Summary       |
        | Plan                   |
        | Checkpoint             |
        | Label                  |
        | after one              |
        | Files                  |
        | 1 reverted             |
        | Changes Reverted       |
        | b.txt                  |
        | removed                |
        | Impact                 |
        | 0 invalidated          |
        | restored to            |
        | 0 discarded            |
        | 1 undone               |
        | Post-Rollback State    |
        | execute                |
        | queued (awaiting input) |
        | OK Rollback complete   |
      And the sandbox is as it was at "after one"

    Scenario: A long preview is cut, and says so
      Given the user sits before a terminal
      And the user has changed the sandbox by `for n in $(seq 30); do touch f$n; done; echo x > README.md; mkfifo pipe`
      When the user answers "n" when asked for a rollback to "after one"
      Then the error output says "would restore 1 path, remove 31 paths"
      And the error output says "… and 12 more"
      And the error output says "1 uncaptured path is left alone."

    Scenario: --no-input never asks, not even at a terminal
      Given the user sits before a terminal
      When the user, with "--no-input", would answer "y" to a rollback to "after one"
      Then the exit code is 2
      And nothing has changed

    Scenario: What is left alone is shown
      Given the user has changed the sandbox by `mkfifo pipe`
      When the user runs "agents plan rollback @latest @first --yes --format table"
      Then the output has, in this order
        | Left Alone   |
        | pipe         |
        | special file |
        | Next         |

  Rule: a dry run says what would be done, and does nothing at all

    Scenario Outline: A dry run tells what the rollback then does
      Given <when>
      And the user has rehearsed the rollback to "after one"
      When the user rolls the plan back to "after one"
      Then the rehearsal changed nothing
      And both tell the same files, tool calls and checkpoints

      Examples:
        | when                                                                        |
        | the plan has been rolled back to "after one"                                |
        | the plan has been rolled back to "before execution"                         |
        | the user has changed the sandbox by `echo mine > a.txt; git add -A; rm run.sh` |

    Scenario: What no checkpoint holds stays, and the report names it
      Given the user has changed the sandbox by `mkfifo pipe; echo log > .gitignore; echo keep > log`
      When the user rolls the plan back to "after one"
      Then the exit code is 0
      And the document says that these were left alone
        | path | reason             |
        | log  | ignored            |
        | pipe | special file: fifo |
      And the sandbox still has the pipe and the log
