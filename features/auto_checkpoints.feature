Feature: Checkpoints that are made by themselves
  Before and after a run, and around every tool that writes, the plan's sandbox is stored together
  with where the plan was. Which other moments count is a setting.

  Rule: every checkpoint says what it holds and where the plan was

    Scenario: A run is framed by checkpoints, and so is every tool that writes
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | look | reads a.txt  |
        | two  | runs `true`  |
      When the user runs the plan
      Then the checkpoints are
        | label            | trigger             | checkpoint_type | step | tool       |
        | before execution | pre_execute         | pre_execute     | 1    |            |
        | before one       | before_tool_execute | automatic       | 1    | write-file |
        | after one        | after_tool_execute  | automatic       | 1    | write-file |
        | before two       | before_tool_execute | automatic       | 3    | shell      |
        | after two        | after_tool_execute  | automatic       | 3    | shell      |
        | after execution  | post_execute        | post_execute    | 3    |            |

    Scenario: Whoever reads the database finds what the list shows
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user lists the checkpoints
      Then each has a time, a step, a state hash and a label, and so have its row and the view

    Scenario: A step that changed nothing is visible and costs nothing
      Given a plan with the steps
        | step | does        |
        | idle | runs `true` |
      When the user runs the plan
      Then all checkpoints name the same snapshot
      And only the first checkpoint added bytes

  Rule: each trigger makes exactly its own checkpoints

    Scenario Outline: The triggers <triggers> alone
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "<triggers>"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | look | reads a.txt  |
      When the user runs the plan
      Then the exit code is 0
      And the checkpoints are before execution, <labels>after execution

      Examples:
        | triggers               | labels                                          |
        | []                     |                                                 |
        | before_step            | before step 1: one, before step 2: look,        |
        | after_step             | after step 1: one, after step 2: look,          |
        | before_tool_execute    | before one,                                     |
        | after_tool_execute     | after one,                                      |
        | on_tool_write          | before one,                                     |
        | on_tool_write_complete | after one,                                      |
        | on_subplan_spawn       |                                                 |
        | after_subplan          |                                                 |
        | on_error               |                                                 |

    Scenario: A failure is kept as it was, and then rolled back
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "on_error"
      And a plan with the steps
        | step | does                                     |
        | one  | runs `echo half > a.txt; rm src/app.py; false` |
      When the user runs the plan
      Then the checkpoints are before execution, failed: one
      And the checkpoint "failed: one" holds the project after `echo half > a.txt; rm src/app.py`
      And the sandbox is as it was at "before execution"
      And the plan's error names the checkpoint "failed: one"

    Scenario: A failure that no trigger keeps is not kept
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan with the steps
        | step | does                       |
        | one  | runs `echo half > a; false` |
      When the user runs the plan
      Then the checkpoints are before execution
      And the sandbox is as it was at "before execution"

  Rule: the project may choose, and the environment has the last word

    Scenario: The project's own file is obeyed
      Given the project wants the triggers before_step
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      When the user runs the plan
      Then the checkpoints are before execution, before step 1: one, after execution

    Scenario: It is obeyed from any directory of the project
      Given the project wants the triggers before_step
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      When the user runs the plan with --project src
      Then the checkpoints are before execution, before step 1: one, after execution

    Scenario: The environment overrides the project
      Given the project wants the triggers before_step
      And the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "after_step"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      When the user runs the plan
      Then the checkpoints are before execution, after step 1: one, after execution

  Rule: the user can make one too

    Scenario: A checkpoint made by hand holds the sandbox as the user left it
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `echo mine > mine.txt; chmod 600 a.txt`
      When the user makes a checkpoint "my own edits"
      Then the exit code is 0
      And the document describes the checkpoint "my own edits"
      And the checkpoint "my own edits" holds the project after `echo by one > a.txt; echo by two > b.txt; echo mine > mine.txt; chmod 600 a.txt`
      And the plan's last checkpoint is "my own edits"

    Scenario: Before its first run a plan has nothing to be checkpointed
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has been made
      When the user makes a checkpoint "too early"
      Then it is refused with the code 4 and the sentence A plan in strategize/complete cannot be checkpointed: it has no sandbox yet
      And nothing has changed

    Scenario: A checkpoint without a label is refused
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user makes a checkpoint "  "
      Then the exit code is 2
      And the error is "A label must have between 1 and 200 characters"
      And nothing has changed

    Scenario: A checkpoint says what it could not hold
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `mkfifo pipe`
      And a checkpoint "with a pipe" has been made by hand
      When the user runs "agents plan checkpoint show @latest @latest --format table"
      Then the output says "Not captured"
      And the output says "| pipe | special file"

    Scenario: One checkpoint can be shown
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user looks at the checkpoint "after one"
      Then the exit code is 0
      And the document describes the checkpoint "after one"
