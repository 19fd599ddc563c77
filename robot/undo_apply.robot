*** Settings ***
Documentation    Undoing an apply, by the installed command: the user's repository, directory and database are what
...              they were before it, or the undo is refused and nothing changes.

Resource         resources/agents.resource
Library          libraries/Neighbours.py

Test Setup       The Repository Is Remembered


*** Test Cases ***
An Apply Is Undone
    Given A Plan Has Been Applied    applied.yaml
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Data Field 'operation.kind' Is    undo
    And The Data Field 'undone' Is    apply (commit)
    And The Data Field 'post_rollback_state.state' Is    complete
    And The Project Is As Before

It Is Applied Again
    Given A Plan Has Been Applied    applied.yaml
    And The User Runs    agents undo --yes --format json
    When The User Runs    agents plan redo ${PLAN} --yes --format json
    Then The Project Has The Result
    When The User Runs    agents undo --yes --format json
    And The User Runs    agents apply --yes --format json
    Then The Command Succeeds
    And The Project Has The Result

The Sandbox Is There Again
    Given A Plan Has Run    applied.yaml
    ${before}    The Fingerprint Of The Sandbox
    And The User Runs    agents plan apply ${PLAN} --yes --format json
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Sandbox Equals    ${before}

A New Branch Is Deleted
    Given A Plan Has Run    applied.yaml
    And The User Runs    agents plan apply ${PLAN} --branch new --yes --format json
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And Git Says In    ${REPOSITORY}    main    branch    --format=%(refname:short)

Three Resources Are As Before
    Given A Directory And A Database Lie Beside    ${REPOSITORY}
    And A Plan Has Been Applied    three-resources.yaml
    And The File Beside Says    ${REPOSITORY}    new
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Command Succeeds
    And Git Says In    ${REPOSITORY}    README.md; run.sh    ls-files
    And The File Beside Says    ${REPOSITORY}    old
    And The Database Beside Holds    ${REPOSITORY}    1

The Project Has Moved On
    Given A Plan Has Been Applied    applied.yaml
    And The User Has Since Committed    ${REPOSITORY}    mine.txt    mine
    When The User Runs    agents plan undo ${PLAN} --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    changed_since_apply
    And The Error Has A Hint
    And Git Says In    ${REPOSITORY}    README.md; mine.txt; new.txt    ls-files

Undo Goes Back To Before The First Step
    Given A Plan Has Been Applied    mistake.yaml
    And The User Runs    agents undo --yes --format json
    And The User Runs    agents undo --yes --format json
    And The Data Field 'undone' Is    step 2: tidy up
    When The User Runs    agents undo --yes --format json
    Then The Data Field 'undone' Is    step 1: make one of each
    And The Data Field 'next_undo' Is    ${None}
    When The User Runs    agents undo --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    nothing_to_take_back


*** Keywords ***
The Repository Is Remembered
    ${repository}    The Repository Path
    VAR    ${REPOSITORY}    ${repository}    scope=TEST

A Plan Has Been Applied
    [Arguments]    ${file}
    A Plan Has Run    ${file}
    The User Runs    agents plan apply ${PLAN} --yes --format json
    The Command Succeeds

The Project Is As Before
    Git Says In    ${REPOSITORY}    Start    log    --format=%s
    Git Says In    ${REPOSITORY}    ${EMPTY}    status    --porcelain
    Git Says In    ${REPOSITORY}    README.md; run.sh    ls-files

The Project Has The Result
    Git Says In    ${REPOSITORY}    Apply plan robot/applied    log    -1    --format=%s
    Git Says In    ${REPOSITORY}    ${EMPTY}    status    --porcelain
    Git Says In    ${REPOSITORY}    README.md; new.txt    ls-files
