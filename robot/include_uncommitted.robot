*** Settings ***
Documentation    With --include-uncommitted a plan starts from the files that are on the disk. Every byte of the
...              user's repository, its index and objects included, is compared before and after.

Resource         resources/agents.resource
Library          libraries/UncommittedWork.py


*** Test Cases ***
A Plan Starts From The Files As They Are
    Given The User Has Work That Is Not Committed
    When A Plan That Changes Nothing Has Run    --include-uncommitted
    Then The Sandbox Equals    ${BEFORE}
    And The User's Work Is Untouched
    And The Data Field 'include_uncommitted' Is    ${True}

A Plan Starts From The Last Commit Unless Asked Otherwise
    Given The User Has Work That Is Not Committed
    When A Plan That Changes Nothing Has Run    --arg word=none
    Then The Sandbox Holds The File    run.sh
    And The User's Work Is Untouched
    And The Data Field 'include_uncommitted' Is    ${False}

A Rollback Brings The Work Back As It Was
    Given The User Has Work That Is Not Committed
    And A Plan That Ruins Everything Has Run
    When The User Runs    agents plan rollback ${PLAN} @first --yes --format json
    Then The Data Field 'verified' Is    ${True}
    And The Sandbox Equals    ${BEFORE}
    And The User's Work Is Untouched

The Wish Is Kept Until The Plan Is Executed
    Given The User Has Work That Is Not Committed
    And The User Runs    agents plan use '${PLANS}/uncommitted.yaml' --include-uncommitted --format json
    When The User Runs    agents plan execute @latest --format json
    Then The Plan Is Remembered
    And The Sandbox Equals    ${BEFORE}

A Hostile Repository Runs Nothing
    Given The Repository Is Hostile
    And The User Writes The File    README.md    not committed
    And The User Writes The File    notes.txt    not even added
    When A Plan That Changes Nothing Has Run    --include-uncommitted
    Then The Sandbox Holds The File    notes.txt
    And Nothing Of The Repository Was Executed
    And The User's Repository Is Untouched

Another Repository Inside Is Refused
    Given The User Has Work That Is Not Committed
    And Another Repository Is Made In    ${REPOSITORY}
    When The User Runs    agents plan run '${PLANS}/uncommitted.yaml' --include-uncommitted --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    project_refused
    And The Error Says    another repository at `inner`


*** Keywords ***
The User Has Work That Is Not Committed
    ${repository}    The Repository Path
    Work Of All Kinds Is Left In    ${repository}
    ${before}    The Fingerprint Of    ${repository}
    VAR    ${REPOSITORY}    ${repository}    scope=TEST
    VAR    ${BEFORE}    ${before}    scope=TEST

The User's Work Is Untouched
    The Directory Equals    ${REPOSITORY}    ${BEFORE}

A Plan That Changes Nothing Has Run
    [Arguments]    ${options}
    The User Runs    agents plan run '${PLANS}/uncommitted.yaml' ${options} --format json
    The Command Succeeds
    The Plan Is Remembered

A Plan That Ruins Everything Has Run
    The User Runs
    ...    agents plan run '${PLANS}/uncommitted.yaml' --include-uncommitted --arg word=ruin --format json
    The Command Succeeds
    The Plan Is Remembered
