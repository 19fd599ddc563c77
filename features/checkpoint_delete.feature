Feature: Deleting checkpoints
  What the user deletes is gone: its records at once, its bytes when space is reclaimed. The rest
  is as it was.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Rule: it asks, with a preview, and takes anything but yes as no

    Scenario: Nobody is there to be asked
      When the user asks to delete the checkpoints "after one"
      Then it is refused with the code 2 and the sentence "Delete?" needs confirmation, but this command cannot ask for it
      And nothing has changed

    Scenario: The user says no
      Given the user sits before a terminal
      When the user answers "n" when asked to delete the checkpoints "after one", "before one"
      Then the exit code is 1
      And the user was asked
        """
        This would delete 2 checkpoints for good:
          «before one»  before one
          «after one»  after one
        Delete? [y/N]
        """
      And the output says "Nothing was changed"
      And nothing has changed

    Scenario: The user says yes
      Given the user sits before a terminal
      When the user answers "y" when asked to delete the checkpoints "after one"
      Then the exit code is 0
      And the output says "Deleted 1 checkpoint"
      And the checkpoints are before execution, before one, before two, after two, after execution

    Scenario: A rehearsal
      When the user rehearses deleting the checkpoints "after one", "before two"
      Then the exit code is 0
      And the document lists the checkpoints "after one", "before two"
      And the messages are Dry run: nothing was changed
      And nothing has changed

  Rule: records and snapshots go together

    Scenario: Several at once, and a name twice
      When the user deletes the checkpoints "before two", "after one", "before two"
      Then the exit code is 0
      And the document lists the checkpoints "after one", "before two"
      And the messages are Deleted 2 checkpoints; Run `agents gc` to reclaim the space
      And the checkpoints are before execution, before one, after two, after execution
      And 1 snapshot went
      And stores and records name the same snapshots
      And all checkpoints can be read back

    Scenario: Files that another checkpoint has too stay stored
      When the user deletes the checkpoints "after one"
      Then the messages are Deleted 1 checkpoint; Other checkpoints have the same files, so there is no space to reclaim
      And 0 snapshot went
      And stores and records name the same snapshots
      And all checkpoints can be read back

    Scenario: A checkpoint stands for its moment
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      And the plan has run
      And the user sits before a terminal
      When the user answers "y" when asked to delete the checkpoints "before execution"
      Then the error output says "before execution (project)"
      And the error output says "before execution (docs)"
      And the checkpoints are before shop, after shop, before docs, after docs, after execution
      And stores and records name the same snapshots

    Scenario: The log tells a deletion from pruning
      Given the checkpoint "after one" has been deleted
      When the user asks what happened to the plan with --limit 1
      Then the log says
        | what               | details                        |
        | checkpoint.deleted | Checkpoint `after one` deleted |

    Scenario: Snapshots that could not be dropped are dropped later
      Given checkpoints "mine" and "later" of two states have been made by hand
      And the store refuses to drop snapshots
      When the user deletes the checkpoints "mine"
      Then the exit code is 0
      And it warns that "their snapshots could not be deleted yet: The disk gave up"
      And 1 snapshots more are stored than recorded
      And taking the plan up again drops them

  Rule: it says what is lost with them

    Scenario: What an undo needs
      Given the plan has been rolled back to "after one"
      When the user deletes the checkpoints "before rollback to after one"
      Then the exit code is 0
      And it warns that "Without `before rollback to after one`, the rollback to after one cannot be undone"
      And the operation that cannot be undone is named

    Scenario: What an undo needs, in the preview
      Given the plan has been rolled back to "after one"
      And the user sits before a terminal
      When the user answers "n" when asked to delete the checkpoints "before rollback to after one"
      Then the error output says "Without `before rollback to after one`, the rollback to after one cannot be undone."
      And nothing has changed

    Scenario: Where the plan began
      When the user deletes the checkpoints "before execution"
      Then the exit code is 0
      And it warns that "Without `before execution`, the plan's changes are shown from a later checkpoint on"
      And the checkpoints are before one, after one, before two, after two, after execution

    Scenario: More than the preview lists
      Given a plan with 24 checkpoints by hand, of which 30 are left
      And the user sits before a terminal
      When the user answers "n" when asked to delete all checkpoints but the last
      Then the error output says "This would delete 29 checkpoints for good:"
      And the error output says "  … and 9 more"
