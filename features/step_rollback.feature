Feature: Rolling back one step
  What one step did can go back alone, unless later work was built on it. The rest of the sandbox
  and the plan stay where they are, and it can be undone like any rollback.

  Rule: one step's changes

    Scenario: What it did is gone, what came later stays
      Given a plan with the steps
        | step  | does                                                                        |
        | one   | runs `echo 1 > a.txt; mkdir own shared; echo 1 > own/x; echo 1 > shared/x; rm run.sh; chmod 600 README.md` |
        | two   | runs `echo 2 > b.txt; echo 2 > shared/y`                                       |
      And the plan has run
      When the user rolls back only step 1
      Then the sandbox is the project after `echo 2 > b.txt; mkdir shared; echo 2 > shared/y`
      And the plan is execute/complete with 2 steps done
      And the tool calls in effect are
        | step | tool  | status    |
        | 2    | shell | succeeded |

    Scenario: Later steps built on it
      Given a plan with the steps
        | step | does                                    |
        | one  | runs `echo 1 > a.txt; echo 1 > b.txt`    |
        | two  | runs `echo 2 >> a.txt`                   |
      And the plan has run
      When the user rolls back only step 1
      Then it is refused with the code 4 and the sentence Step 1 cannot be rolled back alone, because later steps changed the same paths: a.txt
      And the sandbox is as it was at "after execution"

    Scenario: Somebody built on it by hand
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `echo mine >> a.txt`
      When the user rolls back only step 1
      Then the exit code is 4
      And the sandbox is the project after `echo by one > a.txt; echo mine >> a.txt; echo by two > b.txt`

    Scenario: A later step had taken it back already
      Given a plan with the steps
        | step | does                                 |
        | one  | runs `echo 1 > a.txt; echo 1 > b.txt` |
        | two  | deletes a.txt                        |
      And the plan has run
      When the user rolls back only step 1
      Then the sandbox is the project after `true`

    Scenario: Its mode of a directory that others use is built upon
      Given a plan with the steps
        | step | does                     |
        | one  | runs `chmod 700 src`     |
        | two  | runs `echo 2 > src/new`  |
      And the plan has run
      When the user rolls back only step 1
      Then it is refused with the code 4 and the sentence Step 1 cannot be rolled back alone, because later steps changed the same paths: src

    Scenario: It did nothing
      Given a plan with the steps
        | step | does              |
        | one  | reads README.md   |
        | two  | writes b.txt      |
      And the plan has run
      When the user rolls back only step 1
      Then it is refused with the code 4 and the sentence Step 1 has no changes to roll back

    Scenario: No state from before it is kept
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan that wrote a.txt in step one and b.txt in step two
      When the user rolls back only step 2
      Then it is refused with the code 4 and the sentence Cannot roll back step 2: a checkpoint that this needs was deleted or pruned

    Scenario: A decision is none
      Given a plan with a decision between a file and a database
      And the plan has run
      When the user rolls back only step 2
      Then it is refused with the code 2 and the sentence Step 2 is a decision, which changed no file

    Scenario: It is undone like any other
      Given a plan that wrote a.txt in step one and b.txt in step two
      And step 1 alone has been rolled back
      When the user undoes the last operation
      Then the sandbox is as it was at "after execution"
      And the tool calls in effect are
        | step | tool       | status    |
        | 1    | write-file | succeeded |
        | 2    | write-file | succeeded |

    Scenario: A dry run names what would go back and changes nothing
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `echo mine > mine.txt`
      When the user rehearses rolling back only step 1
      Then the rehearsal names a.txt as removed
      And nothing has changed
