Feature: The undo and redo commands
  They say what they would do, and ask; what cannot be is refused and changes nothing.

  Rule: it says what it will do, and asks

    Scenario: A rehearsal changes nothing
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user rehearses undoing
      Then nothing has changed
      And the messages are Dry run: nothing was changed
      And the rehearsal names b.txt as restored

    Scenario Outline: Answering "<answer>"
      Given the user sits before a terminal
      And a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user answers "<answer>" when asked to undo
      Then the exit code is <code>
      And the error output says "Undoing the rollback to after one would restore 1 path and remove 0 paths."
      And the error output says "It would reinstate 1 tool call."

      Examples:
        | answer | code |
        | y      | 0    |
        | n      | 1    |

    Scenario: Nobody is there to answer
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user asks to undo
      Then the exit code is 2
      And nothing has changed

    Scenario: Somebody else did something while the question stood
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When a program asks to undo a rollback that is no longer the last one
      Then the program is told that The plan has changed meanwhile: undo would now reverse the rollback to after one

    Scenario: What it leads to was deleted
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the records of "before rollback to after one" are gone
      When the user undoes the last operation
      Then it is refused with the code 4 and the sentence Cannot undo rollback to after one: a checkpoint that this needs was deleted or pruned

    Scenario: An older program did it
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And an older program recorded the rollback
      When the user undoes the last operation
      Then it is refused with the code 4 and the sentence Cannot undo rollback to after one: a checkpoint that this needs was deleted or pruned

    Scenario: The checkpoint the plan stood on was deleted
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the records of "after execution" are gone
      When the user undoes the last operation
      Then the sandbox is the project after `echo by one > a.txt; echo by two > b.txt`
      And the plan's last checkpoint is "before rollback to after one"

  Rule: it says what can be done next

    Scenario: A plan that was cancelled is cancelled again, and not to be run on
      Given a plan with the steps
        | step  | does          |
        | one   | writes a.txt  |
        | two   | runs `exit 3` |
      And the plan was cancelled
      And the plan has been rolled back to "after one"
      When the user runs "agents plan undo @latest --yes --format table"
      Then the output has, in this order
        | cancelled             |
        | agents plan redo      |
      And the output does not say "agents plan execute"

  Rule: the log shows it

    Scenario: Each in its turn
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the last operation has been undone
      And the last undo has been redone
      When the user looks at the plan's operations
      Then the operations are
        | kind     | status    | takes back | tried                      |
        | rollback | completed |            | 2. write-file succeeded    |
        | undo     | completed | rollback   |                            |
        | redo     | completed | undo       | 2. write-file succeeded    |

    Scenario: The log shows what a correction undid
      Given a plan with a decision between a file and a database
      And the plan has run
      And the decision has been corrected to choose database
      When the user looks at the plan's operations
      Then the operations are
        | kind       | status    | takes back | tried                                                                                                                |
        | correction | completed |            | 2. record-decision succeeded, 3. write-file succeeded, 4. write-file succeeded, Where do greetings live? file |

    Scenario: What an older program did is shown without it
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And an older program recorded the rollback
      When the user looks at the plan's operations
      Then the operations are
        | kind     | status    | takes back | tried |
        | rollback | completed |            |       |
