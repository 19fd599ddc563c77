*** Settings ***
Documentation    Whatever a process has taken back, another one can bring back, and take back again: files, tool
...              calls and the state of the plan. mistake.yaml is as in checkpoint_rollback.robot.

Resource         resources/agents.resource


*** Test Cases ***
An Undo Is Redone
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    And The User Runs    agents plan undo ${PLAN} --yes --format json
    When The User Runs    agents plan redo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Data Field 'operation.kind' Is    redo
    And The Data Field 'verified' Is    ${True}
    And The Sandbox Is Orderly Again

The Short Forms Need No Plan
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    And The User Runs    agents undo --yes --format json
    And The Sandbox Still Has The Mistake
    When The User Runs    agents redo --yes --format json
    Then The Command Succeeds
    And The Data Field 'operation.kind' Is    redo
    And The Sandbox Is Orderly Again

Each Undo Goes One Further Back
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    And The User Runs    agents plan rollback ${PLAN} @first --yes --format json
    And The User Runs    agents plan undo ${PLAN} --yes --format json
    And The Sandbox Is Orderly Again
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Sandbox Still Has The Mistake

A Rehearsal Changes Nothing
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    When The User Runs    agents plan undo ${PLAN} --dry-run --format json
    Then The Command Succeeds
    And The Data Field 'dry_run' Is    ${True}
    And The Change Of 'run.sh' Is    removed
    And The Sandbox Is Orderly Again

What The User Made By Hand Comes Back
    Given An Agent Has Made A Mistake
    And The User Writes Into The Sandbox    mine.txt    mine
    And The User Rolls Back
    And The Sandbox Lacks The File    mine.txt
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Sandbox Holds The Lines    mine.txt    mine
    And The User's Repository Is Untouched

The Last Step Is Undone
    Given An Agent Has Made A Mistake
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Data Field 'undone' Is    step 2: tidy up
    And The Data Field 'next_undo' Is    step 1: make one of each
    And The Sandbox Is Orderly Again

There Is Nothing To Redo
    Given An Agent Has Made A Mistake
    When The User Runs    agents plan redo ${PLAN} --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    nothing_to_take_back
    And The Error Has A Hint
    And The Sandbox Still Has The Mistake

The Log Tells Of Going Back And Forth
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    And The User Runs    agents plan undo ${PLAN} --yes --format json
    When The User Runs    agents plan log ${PLAN} --format json
    Then The Data Field 'operations.0.kind' Is    rollback
    And The Data Field 'operations.1.kind' Is    undo
    And The Data Field 'operations.1.status' Is    completed
    ${rollback}    The Data Field    operations.0.operation_id
    And The Data Field 'operations.1.takes_back' Is    ${rollback}

The State Before A Rollback Is A Checkpoint Like Any Other
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    ${safety}    The Data Field    operation.safety_checkpoint_id
    When The User Runs    agents plan rollback ${PLAN} ${safety} --yes --format json
    Then The Data Field 'verified' Is    ${True}
    And The Sandbox Still Has The Mistake

A FIFO In The Way Of A Rollback Comes Back When It Is Undone
    Given An Agent Has Made A Mistake
    And A FIFO Replaces A File Of The Sandbox    README.md
    When The User Rolls Back
    Then The Command Succeeds
    And The Data Field 'special_files_replaced.0.path' Is    README.md
    And The Sandbox Is Orderly Again
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Sandbox Has A FIFO    README.md
