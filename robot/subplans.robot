*** Settings ***
Documentation    Plans that have other plans do a part of the work, by the installed command: children in processes and
...              sandboxes of their own, merged into their parent and applied with it.

Resource         resources/agents.resource
Library          libraries/Neighbours.py

Test Setup       The Repository Is Remembered


*** Test Cases ***
What Children Made Is Merged And Applied
    Given A Plan Has Run    subplans.yaml
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
    And Git Says In    ${REPOSITORY}    README.md; begin.txt; docs.txt; end.txt; run.sh; tests.txt    ls-files
    And Git Says In    ${REPOSITORY}    ${EMPTY}    status    --porcelain

Children Are Plans Of Their Own
    Given A Plan Has Run    subplans.yaml
    When The User Runs    agents plan status ${PLAN} --format json
    Then The Data Field 'execution.child_plans' Is    2/2 complete
    And The Data Field 'execution.files_modified' Is    ${5}
    And The Data Field 'children.0.name' Is    robot/subplans.docs
    And The Data Field 'children.1.state' Is    complete

A Conflict Is A State With Its Files Listed
    Given A Plan Has Come Into Conflict
    When The User Runs    agents plan conflicts ${PLAN} --format json
    Then The Data Field 'state' Is    conflict
    And The Data Field 'conflicts.0.path' Is    README.md
    And The User's Repository Is Untouched

A Conflict Is Resolved And Then Applied
    Given A Plan Has Come Into Conflict
    And The User Runs    agents plan conflicts ${PLAN} --take theirs README.md --format json
    And The Command Succeeds
    And The User Runs    agents plan resume ${PLAN} --format json
    And The Command Succeeds
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
    And Git Says In    ${REPOSITORY}    tests    show    HEAD:README.md

Going Back Past The Spawn Gives The Children Up
    Given A Plan Has Run    subplans.yaml
    When The User Runs    agents plan rollback ${PLAN} @first --yes --format json
    Then The Command Succeeds
    And The Data Field 'impact.child_plans_invalidated' Is    ${2}
    And The User Runs    agents plan execute ${PLAN} --format json
    And The Command Succeeds
    And The User's Repository Is Untouched


*** Keywords ***
The Repository Is Remembered
    ${repository}    The Repository Path
    VAR    ${REPOSITORY}    ${repository}    scope=TEST

A Plan Has Come Into Conflict
    The User Runs    agents plan run '${PLANS}/subplans.yaml' --arg word=tests --format json
    The Exit Code Is    6
    The Error Field 'details.files' Is    ${{ ["README.md"] }}
    The Plan Is Remembered
