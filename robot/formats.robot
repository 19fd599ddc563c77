*** Settings ***
Documentation    Whatever is shown is shown in six formats, and does the same in each.

Resource         resources/agents.resource

Test Setup       An Agent Has Made A Mistake
Test Template    Every Command Speaks


*** Test Cases ***    FORMAT
Rich
    rich
Colour
    color
Table
    table
Plain
    plain
JSON
    json
YAML
    yaml
The Format May Stand Before The Command
    [Template]    NONE
    When The User Runs    agents --format json plan status ${PLAN}
    Then The Data Field 'plan_id' Is    ${PLAN}
The Format May Come From The Environment
    [Template]    NONE
    Given The Environment Has    CLEVERAGENTS_FORMAT    json
    When The User Runs    agents plan status ${PLAN}
    Then The Data Field 'plan_id' Is    ${PLAN}


*** Keywords ***
Every Command Speaks
    [Arguments]    ${format}
    The User Runs    agents plan checkpoint list ${PLAN} --format ${format}
    The Output Is    ${format}
    The User Runs    agents plan status ${PLAN} --format ${format}
    The Output Is    ${format}
    The User Runs    agents plan rollback ${PLAN} ${CHECKPOINT} --yes --format ${format}
    The Output Is    ${format}
    The Sandbox Is Orderly Again
