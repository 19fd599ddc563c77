Feature: A rollback that fails
  A rollback happens whole or not at all. What it had begun when something failed is undone,
  and if even that fails, it is taken up again by the next command.

  Rule: a failure leaves sandbox and records as they were

    Scenario Outline: It fails while <stage>
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      And the plan has run
      And the next rollback fails while <stage>
      When the user rolls the plan back to "before execution"
      Then it is refused with the code <code> and the sentence <sentence>
      And both sandboxes are as they were
      And only the attempt is on record

      Examples:
        | stage                        | code | sentence                                                                     |
        | restoring the second sandbox | 7    | The disk gave up                                                             |
        | comparing the second sandbox | 7    | What was restored is not what was stored: docs.txt should be removed         |
        | recording it                 | 1    | The disk gave up                                                             |

    Scenario: Ctrl-C while files are restored takes it back
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      And the plan has run
      And the next rollback is interrupted while restoring the second sandbox
      When the user rolls the plan back to "before execution"
      Then the exit code is 130
      And both sandboxes are as they were
      And only the attempt is on record

  Rule: what could not be undone is finished later

    Scenario: A failure that cannot be undone says what to do
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the next rollback fails for good
      When the user rolls the plan back to "after one"
      Then it is refused with the code 7 and the sentence The rollback failed (The disk gave up) and could not be undone: The disk gave up
      And the plan is shown as interrupted in the rollback

    Scenario: An undo that cannot be undone is called by its name
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the next rollback fails for good
      When the user undoes the last operation
      Then it is refused with the code 7 and the sentence The undo failed (The disk gave up) and could not be undone: The disk gave up
      And the plan is shown as interrupted in the undo

    Scenario: The next command completes it once the cause is fixed
      Given a plan that wrote a.txt in step one and b.txt in step two
      And a rollback to "after one" has failed for good
      When the user executes the plan
      Then it warns that "An interrupted rollback to «after one» was completed"
      And the steps that ran are 2
      And the sandbox is the project after `echo by one > a.txt; echo by two > b.txt`
      And the plan is execute/complete with 2 steps done

    Scenario: What can never be completed is undone by the next command
      Given a plan that wrote a.txt in step one and b.txt in step two
      And a rollback to "before execution" has failed for good
      And the snapshot of "before execution" is missing
      When the user makes a checkpoint "afterwards"
      Then it warns that "An interrupted rollback to «before execution» could not be completed and was undone: "
      And the sandbox is as it was at "after execution"
      And the plan is execute/complete with 2 steps done

    Scenario: Nothing is restored into a directory that is not the sandbox
      Given a plan that wrote a.txt in step one and b.txt in step two
      And a rollback to "after one" has failed for good
      And the rollback situation "the sandbox is an unknown directory"
      When the user executes the plan
      Then it is refused with the code 4 and the sentence The sandbox SANDBOX cannot be used: it is not what was there before
      And nothing has changed
