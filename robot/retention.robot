*** Settings ***
Documentation    The user keeps and deletes checkpoints; the limit takes the others. Every command is a process of its
...              own, and the plan is mistake.yaml: before and after each of its two steps there is a checkpoint.

Resource         resources/agents.resource
Library          libraries/SeveralProcesses.py
Library          libraries/RollbackAtWork.py


*** Test Cases ***
A Pinned Checkpoint Outlives The Limit
    Given An Agent Has Made A Mistake
    And The User Runs    agents plan checkpoint pin ${PLAN} ${CHECKPOINT} --format json
    And The Messages Say    Pinned 1 checkpoint
    And The Environment Has    CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN    1
    And The User Runs    agents plan checkpoint create ${PLAN} --label now --format json
    When The User Rolls Back
    Then The Sandbox Is Orderly Again
    And The User's Repository Is Untouched

Without Its Pin It Goes With The Next One
    Given An Agent Has Made A Mistake
    And The User Runs    agents plan checkpoint pin ${PLAN} ${CHECKPOINT} --format json
    And The User Runs    agents plan checkpoint unpin ${PLAN} ${CHECKPOINT} --format json
    And The Environment Has    CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN    1
    And The User Runs    agents plan checkpoint create ${PLAN} --label now --format json
    When The User Runs    agents plan rollback ${PLAN} ${CHECKPOINT} --yes --format json
    Then The Exit Code Is    5
    And The Labels Of ${PLAN} Are    after tidy up    after execution    now

A Run Says What The Limit Dropped
    Given The Environment Has    CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN    2
    When A Plan Has Run    mistake.yaml
    Then The Messages Say    2 older checkpoints were dropped: a plan keeps 2 different states.
    And The Data Field 'execution.checkpoints_dropped' Is    ${2}

What Is Deleted Is Gone And The Rest Is Whole
    Given An Agent Has Made A Mistake
    When The User Runs    agents plan checkpoint delete ${PLAN} @-2 @-3 @-2 --yes --format json
    Then The Command Succeeds
    And The Data Field 'summary.checkpoints' Is    ${2}
    And The Labels Of ${PLAN} Are    before execution    before make one of each    after make one of each
    ...    after execution
    And The User Runs    agents gc --format json
    And The User Runs    agents plan checkpoint verify ${PLAN} --format json
    And The Data Field 'summary.damaged' Is    ${0}

What Is Deleted Cannot Be Deleted Again
    Given An Agent Has Made A Mistake
    And The User Runs    agents plan checkpoint delete ${PLAN} ${CHECKPOINT} --yes --format json
    When The User Runs    agents plan checkpoint delete ${PLAN} ${CHECKPOINT} --yes --format json
    Then The Exit Code Is    5
    And The Error Field 'code' Is    checkpoint_not_found
    And The Error Has A Hint

Nobody Is There To Be Asked
    Given An Agent Has Made A Mistake
    When The User Runs    agents plan checkpoint delete ${PLAN} ${CHECKPOINT} --format json
    Then The Exit Code Is    2
    And The Error Field 'code' Is    confirmation_required

What Is Pinned Is Not Deleted
    Given An Agent Has Made A Mistake
    And The User Runs    agents plan checkpoint pin ${PLAN} ${CHECKPOINT} --format json
    When The User Runs    agents plan checkpoint delete ${PLAN} @first ${CHECKPOINT} --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    checkpoint_pinned
    And The Error Says    agents plan checkpoint unpin ${PLAN} ${CHECKPOINT}

Where The Plan Is Cannot Be Deleted
    Given An Agent Has Made A Mistake
    When The User Runs    agents plan checkpoint delete ${PLAN} @latest --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    checkpoint_in_use
    And The Error Says    it is the plan's current checkpoint

Nothing Is Deleted Under A Run
    Given A Run Is In The Middle Of A Step
    When The User Runs    agents plan checkpoint delete @latest @first --yes --format json
    Then The Exit Code Is    6
    And The Error Says    agents plan run

Nothing Is Pruned Under A Rollback
    Given A Rollback Is In The Middle Of Its Work
    And The Environment Has    CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN    1
    When The User Runs    agents plan checkpoint create ${PLAN} --format json
    Then The Exit Code Is    6
    And The Error Says    agents plan rollback ${PLAN}
    And The Rollback Goes On
    And The Run Ends
    And The Command Succeeds
    And The Data Field 'verified' Is    ${True}


*** Keywords ***
A Run Is In The Middle Of A Step
    The Place To Wait For Is Named In    GO_ON
    The User Starts    agents plan run '${PLANS}/waiting.yaml' --format json
    The Run Has Written    half.txt

A Rollback Is In The Middle Of Its Work
    A Plan Has Run    many-files.yaml
    The User Runs    agents plan checkpoint list ${PLAN} --format json
    The Checkpoint Is Remembered    before make many
    The User Starts    agents plan rollback ${PLAN} ${CHECKPOINT} --yes --format json
    The Rollback Is Halted While It Removes Files From    many
