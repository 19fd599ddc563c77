*** Settings ***
Documentation    Every refusal has its own code, one sentence and a hint, and changes nothing: neither the
...              sandbox, nor where the plan is, nor the user's repository.

Resource         resources/agents.resource

Test Setup       An Agent Has Made A Mistake
Test Template    A Rollback Is Refused


*** Test Cases ***    ROLLBACK    EXIT CODE    ERROR CODE
An Unknown Checkpoint
    ${PLAN} 01ARZ3NDEKTSV4RRFFQ69G5FAV --yes    5    checkpoint_not_found
A Malformed Checkpoint
    ${PLAN} no/checkpoint --yes    5    checkpoint_not_found
A Place Beyond The First Checkpoint
    ${PLAN} @-99 --yes    5    checkpoint_not_found
A Shortened Id That Fits Several
    ${PLAN} 0 --yes    2    ambiguous_id
The Checkpoint Of Another Plan
    [Setup]    Another Plan And A Mistake
    ${PLAN} ${FOREIGN} --yes    4    checkpoint_of_another_plan
An Unknown Plan
    01ARZ3NDEKTSV4RRFFQ69G5FAV @first --yes    5    plan_not_found
No Terminal To Ask On
    ${PLAN} ${CHECKPOINT}    2    confirmation_required
A Yes To Nothing
    ${PLAN} --yes    2    usage
A Sandbox That Is Gone
    [Template]    NONE
    Given The Sandbox Is Moved Away
    When The User Runs    agents plan rollback ${PLAN} ${CHECKPOINT} --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    sandbox_missing
    And The Error Has A Hint
    And The User's Repository Is Untouched
A Link In The Sandbox's Place
    [Template]    NONE
    Given The Sandbox Is Moved Away
    And A Link To A Directory Of The User Is In Its Place
    When The User Runs    agents plan rollback ${PLAN} ${CHECKPOINT} --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    sandbox_missing
    And The Directory Of The User Is As It Was


*** Keywords ***
Another Plan And A Mistake
    A Plan Has Run    three-tools.yaml
    ${foreign}    The Checkpoint Labelled    after execution
    VAR    ${FOREIGN}    ${foreign}    scope=TEST
    An Agent Has Made A Mistake

A Rollback Is Refused
    [Arguments]    ${arguments}    ${exit_code}    ${error_code}
    ${before}    The Whole Of The Data
    The User Runs    agents plan rollback ${arguments} --format json
    The Exit Code Is    ${exit_code}
    The Error Field 'code' Is    ${error_code}
    The Error Has A Hint
    The Sandbox Still Has The Mistake
    The Status Of The Plan Is    ${PLAN}    ${before}
    The User's Repository Is Untouched
