*** Settings ***
Documentation    What happened to a plan is told from the records, by any process.

Resource         resources/agents.resource
Library          libraries/EventLines.py


*** Test Cases ***
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
    And Standard Output Contains    Checkpoint `before tidy up` made
    And Standard Output Contains    Step 2: shell started
    And Standard Output Contains    Rolled back to `before tidy up`
