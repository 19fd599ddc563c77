*** Settings ***
Documentation    The main job. The first step of mistake.yaml makes files, links, modes and empty directories,
...              the second one ruins them. What a rollback must bring back is known from doing the first
...              step by hand in a clone.

Resource         resources/agents.resource


*** Test Cases ***
A Run Names Its Plan And Its Last Checkpoint
    When The User Runs    agents plan run '${PLANS}/three-tools.yaml' --format json
    Then The Command Succeeds
    And The Document Has The Fields Of An Envelope
    And The Data Field 'plan_id' Is An Id
    And The Data Field 'last_checkpoint_id' Is An Id
    And The User's Repository Is Untouched

A New Process Knows The Same Checkpoint
    Given A Plan Has Run    three-tools.yaml
    ${last}    The Data Field    last_checkpoint_id
    When The User Runs    agents plan status ${PLAN} --format json
    Then The Data Field 'last_checkpoint_id' Is    ${last}
    And The Data Field 'state' Is    complete

Each Checkpoint Says When, Where And What
    Given A Plan Has Run    three-tools.yaml
    When The User Runs    agents plan checkpoint list ${PLAN} --format json
    Then The Command Succeeds
    And Each Of 'checkpoints' Has    created_at    step_index    state_hash    label
    And The Data Field 'summary.count' Is    ${6}
    And The Data Field 'summary.limit' Is    ${50}

A Rollback Restores Bytes, Modes, Links, Removals And Empty Directories
    Given An Agent Has Made A Mistake
    When The User Rolls Back
    Then The Sandbox Is Orderly Again
    And The User's Repository Is Untouched

A Rollback Reports Every File And Was Verified
    Given An Agent Has Made A Mistake
    When The User Rolls Back
    Then The Data Field 'verified' Is    ${True}
    And The Change Of 'run.sh' Is    restored
    And The Change Of 'data/empty/' Is    restored
    And The Change Of 'private/' Is    restored
    And The Change Of 'left/over/extra.txt' Is    removed
    And The Data Field 'rollback_summary.files_reverted' Is    ${10}

A Rollback Takes The Plan Back Too
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    When The User Runs    agents plan status ${PLAN} --format json
    Then The Data Field 'last_checkpoint_id' Is    ${CHECKPOINT}
    And The Data Field 'phase' Is    execute
    And The Data Field 'state' Is    queued
    And The Data Field 'last_completed_step' Is    ${0}

A Rollback Is Undone
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Data Field 'operation.kind' Is    undo
    And The Data Field 'verified' Is    ${True}
    And The Data Field 'brought_back.tool_calls' Is    ${1}
    And The Sandbox Still Has The Mistake
    And The Plan Is Complete Again

A Plan Goes On After A Rollback
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    When The User Runs    agents plan execute ${PLAN} --format json
    Then The Command Succeeds
    And The Data Field 'state' Is    complete
    And The Sandbox Still Has The Mistake

A Dry Run Says The Same And Changes Nothing
    Given An Agent Has Made A Mistake
    When The User Runs    agents plan rollback ${PLAN} ${CHECKPOINT} --dry-run --format json
    Then The Command Succeeds
    And The Data Field 'dry_run' Is    ${True}
    And The Change Of 'run.sh' Is    restored
    And The Sandbox Still Has The Mistake

Without A Checkpoint The Checkpoints Are Listed
    Given An Agent Has Made A Mistake
    When The User Runs    agents plan rollback ${PLAN} --format json
    Then The Command Succeeds
    And Each Of 'checkpoints' Has    checkpoint_id    label
    And The Sandbox Still Has The Mistake


*** Keywords ***
The Plan Is Complete Again
    The User Runs    agents plan status ${PLAN} --format json
    The Data Field 'state' Is    complete
    The Data Field 'last_completed_step' Is    ${1}
