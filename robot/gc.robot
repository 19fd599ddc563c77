*** Settings ***
Documentation    Retention drops checkpoints as a plan goes on; their bytes stay until they are reclaimed.
...              Every command here is a process of its own, so what one reclaims the next must do without.

Resource         resources/agents.resource


*** Test Cases ***
Reclaiming Gives Back What A Rehearsal Promised
    Given Most Checkpoints Were Dropped
    And The User Runs    agents gc --dry-run --format json
    ${promised}    The Data Field    summary.bytes_reclaimed
    When The User Runs    agents gc --format json
    Then The Command Succeeds
    And The Data Field 'summary.bytes_reclaimed' Is    ${promised}
    And The Data Field 'dry_run' Is    ${False}
    And The User's Repository Is Untouched

What Is Left Can Be Read Back
    Given Most Checkpoints Were Dropped
    And The User Runs    agents gc --format json
    When The User Runs    agents plan checkpoint verify ${PLAN} --format json
    Then The Command Succeeds
    And The Data Field 'summary.checked' Is    ${4}
    And The Data Field 'summary.damaged' Is    ${0}

What Is Left Can Be Rolled Back To
    Given Most Checkpoints Were Dropped
    And The User Runs    agents gc --format json
    When The User Runs    agents plan rollback ${PLAN} @first --yes --format json
    Then The Command Succeeds
    And The Data Field 'verified' Is    ${True}

The Second Time There Is Nothing To Reclaim
    Given Most Checkpoints Were Dropped
    And The User Runs    agents gc
    When The User Runs    agents gc --format json
    Then The Command Succeeds
    And The Messages Say    Nothing to reclaim

A Running Plan Is Left Alone
    Given A Plan Is At Work
    When The User Runs    agents gc --format json
    Then The Exit Code Is    3
    And The Document's Status Is    warn
    And The Data Field 'summary.busy' Is    ${1}
    And The Data Field 'summary.bytes_reclaimed' Is    ${0}


*** Keywords ***
Most Checkpoints Were Dropped
    The Environment Has    CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN    2
    A Plan Has Run    mistake.yaml

A Plan Is At Work
    The Place To Wait For Is Named In    GO_ON
    The User Starts    agents plan run '${PLANS}/waiting.yaml' --format json
    The Run Has Written    half.txt
