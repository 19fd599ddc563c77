Feature: Undo and redo
  Everything that a plan has done can be undone, and the undo can be redone: the files, the
  decisions, the tool calls, the checkpoints and the state of the plan are what they were before.

  Rule: undo brings back everything as it was

    Scenario: A complete plan is complete again
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "before one"
      When the user undoes the last operation
      Then the sandbox is as it was at "after execution"
      And the plan is execute/complete with 2 steps done
      And the plan's last checkpoint is "after execution"
      And the checkpoints are before execution, before one, after one, before two, after two, after execution, before rollback to before one, before undo of rollback to before one
      And the tool calls in effect are
        | step | tool       | status    |
        | 1    | write-file | succeeded |
        | 2    | write-file | succeeded |

    Scenario: Edits by hand come back too
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `echo mine > a.txt; mkdir -p my/own; chmod 600 run.sh`
      And the plan has been rolled back to "before execution"
      When the user undoes the last operation
      Then the sandbox is the project after `echo mine > a.txt; echo by two > b.txt; mkdir -p my/own; chmod 600 run.sh`

    Scenario: A failed plan has failed again, with its reason
      Given a plan with the steps
        | step  | does          |
        | one   | writes a.txt  |
        | two   | runs `exit 3` |
      And the plan has failed
      And the plan has been rolled back to "before execution"
      When the user undoes the last operation
      Then the plan is execute/errored with 1 steps done
      And the plan's failure is known again

    Scenario: What a correction had taken away
      Given a plan with a decision between a file and a database
      And the plan has run
      And the decision has been corrected to choose database
      When the user undoes the last operation
      Then the decisions that stand are What should be done?, Where do greetings live?
      And the sandbox is the project after `echo by begin > a.txt; echo file > store.py; echo end > end.txt`
      And the plan is execute/complete with 4 steps done

  Rule: it continues as long as there is something to undo

    Scenario: One after the other, in new processes
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the plan has been rolled back to "before one"
      And the last operation has been undone
      When the user undoes the last operation
      Then the sandbox is as it was at "after execution"
      And the plan is execute/complete with 2 steps done

    Scenario: Redo takes an undo back, and undo takes that back
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the last operation has been undone
      And the last undo has been redone
      And the last operation has been undone
      When the user redoes what was undone last
      Then the sandbox is as it was at "after one"
      And nothing is left to redo

    Scenario: After the plan has gone on
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `echo mine > mine.txt`
      And the plan has been rolled back to "after one"
      And the plan has been executed
      And the last operation has been undone
      When the user undoes the last operation
      Then the sandbox is the project after `echo by one > a.txt; echo by two > b.txt; echo mine > mine.txt`
      And the plan is execute/complete with 2 steps done

    Scenario: What was done since is not lost by it
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the user has changed the sandbox by `echo since > since.txt`
      And the last operation has been undone
      When the user redoes what was undone last
      Then the sandbox is the project after `echo by one > a.txt; echo since > since.txt`

    Scenario: A new rollback ends what could be redone
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the last operation has been undone
      And the plan has been rolled back to "before one"
      When the user redoes what was undone last
      Then it is refused with the code 4 and the sentence There is nothing to redo: no undo of this plan is in effect

    Scenario: Everything has been undone
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has undone one entry after the other
      When the user undoes the last operation
      Then it is refused with the code 4 and the sentence There is nothing to undo: nothing that this plan did is in effect, as far as its checkpoints go back

  Rule: going to any saved state brings back what was on the way to it

    Scenario: The state before a rollback that had itself brought checkpoints back
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "before one"
      And the plan has been rolled back to "before rollback to before one"
      And the plan has been rolled back to "before execution"
      When the user rolls the plan back to the newest checkpoint called "before rollback to before execution"
      Then the sandbox is as it was at "after execution"
      And the plan is execute/complete with 2 steps done
      And the checkpoints of the run are all in sight
