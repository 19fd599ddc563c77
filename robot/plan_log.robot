*** Settings ***
Documentation    What happens to a plan is reported twice: while it happens, on stderr, and afterwards by the
...              log. Both must be the same.

Resource         resources/agents.resource
Library          libraries/EventLines.py


*** Test Cases ***
The Emitted Events Are The Stored Events
    Given The User Runs    agents plan run '${PLANS}/three-tools.yaml' --progress json --format json
    And The Command Succeeds
    And The Plan Is Remembered
    ${events}    The Emitted Events
    When The User Runs    agents plan log ${PLAN} --format json
    Then The Command Succeeds
    And The Document Has The Fields Of An Envelope
    And The Log Has Exactly    ${events}

A Failure Is Emitted Too
    Given The User Runs    agents plan run '${PLANS}/failing.yaml' --progress json --format json
    And The Exit Code Is    8
    And The Plan Is Remembered
    ${events}    The Emitted Events
    When The User Runs    agents plan log ${PLAN} --format json
    Then The Log Has Exactly    ${events}

Events Come While The Plan Runs
    Given The Place To Wait For Is Named In    GO_ON
    When The User Starts    agents plan run '${PLANS}/waiting.yaml' --progress json
    Then A Line Has    tool.invoked    ${2}
    And The Run Has Written    half.txt

What A Killed Run Did Is In The Log
    Given The Place To Wait For Is Named In    GO_ON
    And The User Starts    agents plan run '${PLANS}/waiting.yaml'
    And The Run Has Written    half.txt
    And The Run Is Killed
    When The User Runs    agents plan log @latest --type tool --format json
    Then The Types In The Log Are    tool.invoked    tool.completed    tool.invoked

A Rollback Is In The Log
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    When The User Runs    agents plan log ${PLAN} --limit 2 --format json
    Then The Types In The Log Are    checkpoint.restored    sandbox.rolled_back
    And The Data Field 'operations.0.status' Is    completed
    And The Data Field 'operations.0.target_checkpoint_id' Is    ${CHECKPOINT}
    And Each Of 'operations' Has    operation_id    safety_checkpoint_id    finished_at    note

People Read Sentences
    Given An Agent Has Made A Mistake
    And The User Rolls Back
    When The User Runs    agents plan log ${PLAN}
    Then The Command Succeeds
    And Standard Output Contains    Checkpoint `before tidy up` created
    And Standard Output Contains    Step 2, tidy up: shell started
    And Standard Output Contains    Rolled back to `before tidy up`
