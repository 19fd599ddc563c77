*** Settings ***
Documentation    What happened to a plan is told twice: while it happens, on stderr, and afterwards from the
...              records. Both must be the same.

Resource         resources/agents.resource
Library          libraries/EventLines.py


*** Test Cases ***
What Is Told Is What Is Stored
    Given The User Runs    agents plan run '${PLANS}/three-tools.yaml' --progress json --format json
    And The Command Succeeds
    And The Plan Is Remembered
    ${told}    The Events That Were Told
    When The User Runs    agents plan log ${PLAN} --format json
    Then The Command Succeeds
    And The Document Has The Fields Of An Envelope
    And The Log Has Exactly    ${told}

A Failure Is Told Like Everything Else
    Given The User Runs    agents plan run '${PLANS}/failing.yaml' --progress json --format json
    And The Exit Code Is    8
    And The Plan Is Remembered
    ${told}    The Events That Were Told
    When The User Runs    agents plan log ${PLAN} --format json
    Then The Log Has Exactly    ${told}

It Is Told While It Happens
    Given The Place To Wait For Is Named In    GO_ON
    When The User Starts    agents plan run '${PLANS}/waiting.yaml' --progress json
    Then A Line Is Told Of    tool.invoked    ${2}
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
    And Standard Output Contains    Checkpoint `before tidy up` made
    And Standard Output Contains    Step 2: shell started
    And Standard Output Contains    Rolled back to `before tidy up`
