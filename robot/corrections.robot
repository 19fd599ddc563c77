*** Settings ***
Documentation    choosing.yaml keeps greetings in a file. The user has that decided anew, runs the plan on, looks
...              at what is other, and takes it all back: each in a process of its own.

Resource         resources/agents.resource
Library          libraries/EventLines.py

Test Setup       A Plan Has Chosen A File


*** Test Cases ***
A Correction Goes Back To Before The Decision
    When The User Chooses    server
    Then The Data Field 'verified' Is    ${True}
    And The Data Field 'phase_transition_target' Is    strategize
    And The Change Of 'store.txt' Is    removed
    And The Sandbox Holds The File    one.txt
    And The Sandbox Lacks The File    store.txt
    And The User's Repository Is Untouched

The Next Run Takes The Other Branch
    Given The User Chooses    server
    When The User Runs    agents plan execute ${PLAN} --format json
    Then The Command Succeeds
    And The Data Field 'attempt' Is    ${2}
    And The Sandbox Holds The Lines    listing    one.txt server.txt
    And The Sandbox Lacks The File    store.txt

What Was Taken Away Can Be Compared
    Given The User Chooses    server
    And The User Runs    agents plan execute ${PLAN} --format json
    When The User Runs    agents plan diff --correction ${CORRECTION} --format json
    Then The Command Succeeds
    And The Data Field 'files_changed' Is    ${3}
    And The Data Field 'files.1.path' Is    server.txt
    And The Data Field 'files.1.status' Is    added
    And The Data Field 'files.2.path' Is    store.txt
    And The Data Field 'files.2.status' Is    deleted

The Guidance Is A Decision
    Given The User Chooses    server
    When The User Runs    agents plan tree ${PLAN} --format json
    Then The Data Field 'tree.children.0.type' Is    user_intervention
    And The Data Field 'tree.children.0.chosen' Is    server
    And The Data Field 'summary.nodes' Is    ${2}

A Correction Is Taken Back After The Steps That Followed It
    Given The User Chooses    server
    And The User Runs    agents plan execute ${PLAN} --format json
    And Repeat Keyword    3    The User Runs    agents plan undo ${PLAN} --yes --format json
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Data Field 'operation.kind' Is    undo
    And The Sandbox Equals    ${BEFORE}
    And The Status Says    ${1}    complete    ${3}

An Undone Correction Is Made Again
    Given The User Chooses    server
    And The User Runs    agents plan undo ${PLAN} --yes --format json
    When The User Runs    agents plan redo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Sandbox Lacks The File    store.txt
    And The Status Says    ${2}    queued    ${0}

The Log Tells Of It
    Given The User Chooses    server
    And The User Runs    agents plan undo ${PLAN} --yes --format json
    When The User Runs    agents plan log ${PLAN} --format json
    Then The Data Field 'operations.0.kind' Is    correction
    And The Data Field 'operations.1.kind' Is    undo
    And Each Of 'operations' Has    operation_id    safety_checkpoint_id    finished_at    note
    And The User Runs    agents plan log ${PLAN} --type decision.corrected --format json
    And The Types In The Log Are    decision.corrected

More Work Is Appended As A Child Plan
    When The User Runs
    ...    agents plan correct ${DECISION} --mode append --guidance 'write it down' --yes --format json
    Then The Command Succeeds
    And The Data Field 'queued.new_child' Is An Id
    And The Sandbox Equals    ${BEFORE}

A Rehearsal Changes Nothing
    When The User Runs
    ...    agents plan correct ${DECISION} --mode revert --guidance x --choose server --dry-run --format json
    Then The Command Succeeds
    And The Data Field 'dry_run' Is    ${True}
    And The Sandbox Equals    ${BEFORE}
    And The Status Says    ${1}    complete    ${3}

What Fell Cannot Be Corrected Again
    Given The User Chooses    server
    When The User Runs    agents plan correct ${DECISION} --mode revert --guidance x --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    decision_superseded
    And The Error Has A Hint


*** Keywords ***
A Plan Has Chosen A File
    A Plan Has Run    choosing.yaml
    ${before}    The Fingerprint Of The Sandbox
    VAR    ${BEFORE}    ${before}    scope=TEST
    The User Runs    agents plan tree ${PLAN} --format json
    ${decision}    The Data Field    tree.children.0.decision_id
    VAR    ${DECISION}    ${decision}    scope=TEST

The User Chooses
    [Arguments]    ${option}
    The User Runs
    ...    agents plan correct ${DECISION} --mode revert --guidance 'it grows' --choose ${option} --yes --format json
    The Command Succeeds
    ${correction}    The Data Field    correction.correction_id
    VAR    ${CORRECTION}    ${correction}    scope=TEST

The Status Says
    [Arguments]    ${attempt}    ${state}    ${last_step}
    The User Runs    agents plan status ${PLAN} --format json
    The Data Field 'attempt' Is    ${attempt}
    The Data Field 'state' Is    ${state}
    The Data Field 'last_completed_step' Is    ${last_step}
