Feature: Undo goes back through the whole history
  The newest entry that is in effect is undone: the last step, what a session changed last, a
  rollback, a correction or an apply. Redo brings it back. Each time, the output says in one line
  what was undone and what the next undo would undo.

  Rule: every entry, one after the other

    Scenario: Steps, a correction, a rollback and an apply
      Given a plan with a decision between a file and a database
      And the plan has run
      And the decision has been corrected to choose database
      And the plan has been executed
      And the plan has been rolled back to "before write end.txt"
      And the plan has been executed and applied
      When the user undoes one entry after the other
      Then the entries undone, and what is then there, are
        | undone                                   | files                              | state             |
        | apply (commit)                           | a.txt end.txt index.sql store.sql  | execute/complete  |
        | step 5: write end.txt                          | a.txt index.sql store.sql          | execute/queued    |
        | rollback to before write end.txt        | a.txt end.txt index.sql store.sql  | execute/complete  |
        | step 5: write end.txt                          | a.txt index.sql store.sql          | execute/queued    |
        | step 4: write index.sql                        | a.txt store.sql                    | execute/queued    |
        | step 3: write store.sql                        | a.txt                              | execute/queued    |
        | step 2: where                            | a.txt                              | execute/queued    |
        | correction of Where do greetings live?   | a.txt end.txt store.py             | execute/complete  |
        | step 4: write end.txt                          | a.txt store.py                     | execute/queued    |
        | step 3: write store.py                         | a.txt                              | execute/queued    |
        | step 2: where                            | a.txt                              | execute/queued    |
        | step 1: begin                            |                                    | execute/queued    |

    Scenario: And back again
      Given a plan with a decision between a file and a database
      And the plan has run
      And the decision has been corrected to choose database
      And the plan has been executed and applied
      And the user has undone one entry after the other
      When the user redoes one entry after the other
      Then each redo led to exactly what was there before that entry was undone

  Rule: a session without turns goes back by what changed between its checkpoints

    Scenario Outline: <isolation>
      Given a project of the kind `plain directory`
      And a session `--isolation <isolation>` has run `echo one > one.txt`
      When the user runs "agents undo --yes --format json"
      Then the exit code is 0
      And the messages have Undone: changes up to `end of the session`; nothing is left to undo
      And the session is `execute/complete`, with the exit code `0`

      Examples:
        | isolation |
        | in-place  |
        | copy      |

    Scenario: Changes between several checkpoints
      Given the project of a shop
      And a session `-i` has run `echo 1 > one.txt`
      And the checkpoints "looked" and "after two" were made, the second after `echo 2 > two.txt`
      When the user undoes one entry after the other
      Then the entries undone, and what is then there, are
        | undone                             | files   | state            |
        | changes up to `after two`          | one.txt | execute/complete |
        | changes up to `end of the session` |         | execute/complete |

    Scenario: A session that changed nothing
      Given a project of the kind `plain directory`
      And a session `-i` has run `true`
      When the user runs "agents undo --yes --format json"
      Then the exit code is 4
      And the error's code is nothing_to_take_back

  Rule: what is no entry

    Scenario: A failed step that was rolled back has left nothing
      Given a plan with the steps
        | step  | does          |
        | one   | writes a.txt  |
        | two   | runs `exit 3` |
      And the plan has failed
      When the user undoes the last operation
      Then the sandbox is the project after `true`
      And the plan is execute/queued with 0 steps done

    Scenario: A failed step whose changes were kept has left something
      Given a plan with the steps
        | step  | does                           |
        | one   | writes a.txt                   |
        | two   | runs `echo 2 > b.txt; exit 3`  |
      And on failure the plan is to keep
      And the plan has failed
      When the user undoes the last operation
      Then the sandbox is the project after `echo by one > a.txt`
      And the plan is execute/queued with 1 steps done

  Rule: without checkpoints in between, several steps go at once

    Scenario: A run that made none
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan that wrote a.txt in step one and b.txt in step two
      When the user undoes one entry after the other
      Then the entries undone, and what is then there, are
        | undone       | files | state          |
        | steps 1 to 2 |       | execute/queued |

    Scenario: A run that went on after a rollback and made none
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      And the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And the plan has been executed
      When the user undoes one entry after the other
      Then the entries undone, and what is then there, are
        | undone                | files       | state            |
        | step 2: two           | a.txt       | execute/queued   |
        | rollback to after one | a.txt b.txt | execute/complete |
        | step 2: two           | a.txt       | execute/queued   |
        | step 1: one           |             | execute/queued   |

  Rule: a child plan goes with the step that spawned it

    Scenario: The step is undone
      Given a plan with a subplan that has run
      When the user undoes the last operation
      Then the child plan is cancelled
      And the plan is execute/queued with 0 steps done

    Scenario: And redone
      Given a plan with a subplan that has run
      And the last operation has been undone
      When the user redoes what was undone last
      Then every plan is execute/complete
