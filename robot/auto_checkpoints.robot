*** Settings ***
Documentation    Which checkpoints appear by themselves. The ones before and after the execution are always
...              there; each trigger of the setting adds its own and no others. three-tools.yaml has two steps
...              that write and one that only reads, failing.yaml fails in its second step.

Resource         resources/agents.resource

Test Template    The Trigger Makes


*** Test Cases ***    SETTING    PLAN    TRIGGERS
Before Each Step
    before_step    three-tools.yaml    pre_execute    before_step    before_step    before_step    post_execute
After Each Step
    after_step    three-tools.yaml    pre_execute    after_step    after_step    after_step    post_execute
Before Each Tool That Writes
    before_tool_execute    three-tools.yaml    pre_execute    before_tool_execute    before_tool_execute    post_execute
After Each Tool That Writes
    after_tool_execute    three-tools.yaml    pre_execute    after_tool_execute    after_tool_execute    post_execute
On An Error
    on_error    failing.yaml    pre_execute    automatic    on_error
None At All
    \[]    three-tools.yaml    pre_execute    post_execute
The Older Name Of A Trigger
    on_tool_write    three-tools.yaml    pre_execute    before_tool_execute    before_tool_execute    post_execute
Two Triggers Together
    before_step,on_error    failing.yaml    pre_execute    before_step    before_step    on_error
An Unknown Trigger
    [Template]    NONE
    When The User Runs    agents config set sandbox.checkpoint.auto-create-on before_tool --format json
    Then The Exit Code Is    10
    And The Error Says    before_tool_execute
    And The Error Says    after_tool_execute
    And The Error Says    on_error
A Project May Choose Its Triggers
    [Template]    NONE
    Given The User Runs    agents config set sandbox.checkpoint.auto-create-on [] --project .
    When The User Runs    agents plan run '${PLANS}/three-tools.yaml'
    Then The Triggers Of @latest Are    pre_execute    post_execute
    And The Last Checkpoint Of The Status Is The Last Of The List


*** Keywords ***
The Trigger Makes
    [Arguments]    ${setting}    ${plan}    @{triggers}
    The User Runs    agents config set sandbox.checkpoint.auto-create-on ${setting}
    The Command Succeeds
    The User Runs    agents plan run '${PLANS}/${plan}' --format json
    The Data Field 'last_checkpoint_id' Is An Id
    The Triggers Of @latest Are    @{triggers}
    The User's Repository Is Untouched

The Last Checkpoint Of The Status Is The Last Of The List
    ${last}    The Checkpoint Labelled    after execution
    The User Runs    agents plan status @latest --format json
    The Data Field 'last_checkpoint_id' Is    ${last}
