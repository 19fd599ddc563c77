Feature: Rolling back a plan
  A plan and its sandbox can be rolled back to any checkpoint the plan still keeps: every byte,
  mode, link and directory, git's own place, and where the plan was.

  Rule: what was there is there again, exactly

    Scenario: Bytes, modes, links, removals and empty directories
      Given a plan with the steps
        | step    | does                                                   |
        | prepare | runs `make files, links and directories of many modes` |
        | wreck   | runs `change and remove all of them`                   |
      And the plan has run
      When the user rolls the plan back to "before wreck"
      Then the sandbox is as it was at "before wreck"
      And the report lists
        | file       | action   |
        | e/         | restored |
        | e/mpty/    | restored |
        | frozen     | restored |
        | link       | restored |
        | lost       | restored |
        | lost/      | removed  |
        | new/empty/ | removed  |
        | root       | restored |
        | secret     | restored |
        | src        | removed  |
        | src/app.py | restored |
      And the project is untouched

    Scenario: Names of any bytes
      Given a plan with the steps
        | step  | does                                                                                 |
        | name  | runs `echo 1 > "$(printf 'two\nlines')"; echo 2 > "$(printf 'caf\351')"; echo 3 > '日本'` |
        | clean | runs `rm -f two* caf* 日*`                                                           |
      And the plan has run
      When the user rolls the plan back to "before clean"
      Then the sandbox is as it was at "before clean"
      And the report lists 3 files

    Scenario: An agent's commit is undone with its branch and its index
      Given a plan with the steps
        | step   | does                                                      |
        | commit | runs `commit, switch to a new branch and stage a removal` |
      And the plan has run
      When the user rolls the plan back to "before commit"
      Then the sandbox is as it was at "before commit"
      And git is no longer where it was at "after commit"

    Scenario: Two repositories go back together
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      And the plan has run
      When the user rolls the plan back to "before execution"
      Then the report lists
        | file             | action  |
        | project/shop.txt | removed |
        | docs/docs.txt    | removed |
      And neither repository's sandbox has a new file

  Rule: the plan goes back with its files

    Scenario: The whole report, field by field
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user rolls the plan back to "before two"
      Then the document has exactly this data
        | field                                     | value                           |
        | rollback_summary.plan                     | PLAN                            |
        | rollback_summary.checkpoint               | «before two»                    |
        | rollback_summary.label                    | before two                      |
        | rollback_summary.files_reverted           | 1                               |
        | changes_reverted.0.file                   | b.txt                           |
        | changes_reverted.0.action                 | removed                         |
        | impact.child_plans_invalidated            | 0                               |
        | impact.sandbox                            | restored to «before two»        |
        | impact.decisions_after_cp                 | 0 discarded                     |
        | impact.tool_calls_after_cp                | 1 undone                        |
        | post_rollback_state.phase                 | execute                         |
        | post_rollback_state.state                 | queued (awaiting input)         |
        | post_rollback_state.checkpoints_remaining | 5                               |
        | verified                                  | true                            |
        | operation.operation_id                    | OPERATION                       |
        | operation.kind                            | rollback                        |
        | operation.takes_back                      | null                            |
        | operation.safety_checkpoint_id            | «before rollback to before two» |
        | brought_back.decisions                    | 0                               |
        | brought_back.tool_calls                   | 0                               |
        | brought_back.child_plans                  | 0                               |
        | effects_not_undone                        | []                              |
        | in_place                                  | null                            |
        | commits_kept                              | []                              |
        | left_alone                                | []                              |
        | special_files_replaced                    | []                              |
      And the messages are Rollback complete

    Scenario: The plan is where it was
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user rolls the plan back to "before two"
      Then the plan is execute/queued with 1 steps done
      And the plan's last checkpoint is "before two"
      And the checkpoints are before execution, before one, after one, before two, before rollback to before two
      And the tool calls in effect are
        | step | tool       | status    |
        | 1    | write-file | succeeded |

    Scenario: Executing again does exactly what was undone
      Given a plan with the steps
        | step  | does                      |
        | one   | writes a.txt              |
        | two   | runs `echo 2 >> b.txt`    |
        | three | runs `echo 3 >> c.txt`    |
      And the plan has run
      And the plan has been rolled back to "before two"
      When the user executes the plan
      Then the steps that ran are 2, 3
      And the sandbox is the project after `echo by one > a.txt; echo 2 > b.txt; echo 3 > c.txt`
      And the plan is execute/complete with 3 steps done

  Rule: nothing is lost

    Scenario: Edits made by hand are kept by the safety checkpoint
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `echo mine > a.txt; mkdir my; rm run.sh`
      When the user rolls the plan back to "after one"
      Then the sandbox is as it was at "after one"
      And the checkpoint "before rollback to after one" holds the project after `echo mine > a.txt; echo by two > b.txt; mkdir my; rm run.sh`

    Scenario: The way back can be gone forward again
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "before one"
      When the user rolls the plan back to "before rollback to before one"
      Then the sandbox is as it was at "after execution"
      And the plan is execute/complete with 2 steps done
      And the checkpoints are before execution, before one, after one, before two, after two, after execution, before rollback to before one, before rollback to before rollback to before one
      And the tool calls in effect are
        | step | tool       | status    |
        | 1    | write-file | succeeded |
        | 2    | write-file | succeeded |

    Scenario: Going forward stops where the user wants
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "before one"
      When the user rolls the plan back to "after one"
      Then the sandbox is as it was at "after one"
      And the plan is execute/queued with 1 steps done
      And the checkpoints are before execution, before one, after one, before rollback to before one, before rollback to after one

    Scenario: Rolling back twice to the same place is the same place
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user rolls the plan back to "after one"
      Then the sandbox is as it was at "after one"
      And the report lists 0 files
      And the plan is execute/queued with 1 steps done
