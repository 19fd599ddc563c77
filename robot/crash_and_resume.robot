*** Settings ***
Documentation    The second step of waiting.yaml stops in the middle of its work, with one file deleted and one
...              written, until the user lets it go on. That is where the run is killed.

Resource         resources/agents.resource


*** Test Cases ***
A Killed Run Is Shown As It Is
    Given A Run Was Killed In The Middle Of A Step
    When The User Runs    agents plan status @latest --format json
    Then The Command Succeeds
    And The Data Field 'phase' Is    execute
    And The Data Field 'state' Is    processing
    And The Data Field 'last_completed_step' Is    ${0}
    And The Data Field 'last_checkpoint_id' Is An Id
    And The User's Repository Is Untouched

A Killed Run Goes On And Finishes
    Given A Run Was Killed In The Middle Of A Step
    And The User Lets The Long Work Finish
    When The User Runs    agents plan execute @latest --format json
    Then The Command Succeeds
    And The Data Field 'state' Is    complete
    And The Sandbox Is As If Nothing Had Happened
    And The User's Repository Is Untouched

What The Killed Step Left Is Kept And Named
    Given A Run Was Killed In The Middle Of A Step
    And The User Lets The Long Work Finish
    When The User Runs    agents plan execute @latest --format json
    Then The Document's Status Is    warn
    And The Messages Say    agents plan rollback
    And The User Rolls Back To    found when going on
    And The Sandbox Holds The File    half.txt

A Killed Run Can Be Rolled Back
    Given A Run Was Killed In The Middle Of A Step
    When The User Runs    agents plan rollback @latest @first --yes --format json
    Then The Command Succeeds
    And The Data Field 'verified' Is    ${True}
    And The Change Of 'README.md' Is    restored
    And The Change Of 'half.txt' Is    removed

A Run Under Way Keeps Others Out
    Given A Run Is In The Middle Of A Step
    When The User Runs    agents plan rollback @latest @first --yes --format json
    Then The Exit Code Is    6
    And The Error Field 'code' Is    busy
    And The Error Says    agents plan run
    And The Sandbox Holds The File    half.txt

A Run Under Way Is Cancelled
    Given A Run Is In The Middle Of A Step
    When The User Runs    agents plan cancel @latest --reason 'wrong way' --format json
    Then The Command Succeeds
    And The Data Field 'state' Is    cancelled
    And The Run Has Ended With    130
    And The User Rolls Back To    before long work
    And The Sandbox Holds The File    README.md
    And The User's Repository Is Untouched

An Interrupted Run Says How To Go On
    Given A Run Is In The Middle Of A Step
    When The User Presses Control-C
    Then The Exit Code Is    130
    And The Error Field 'code' Is    interrupted
    And The Error Says    agents plan resume
    And The User Lets The Long Work Finish
    And The User Runs    agents plan execute @latest --format json
    And The Data Field 'state' Is    complete


*** Keywords ***
A Run Is In The Middle Of A Step
    The Place To Wait For Is Named In    GO_ON
    The User Starts    agents plan run '${PLANS}/waiting.yaml' --format json
    The Run Has Written    half.txt

A Run Was Killed In The Middle Of A Step
    A Run Is In The Middle Of A Step
    The Run Is Killed

The Sandbox Is As If Nothing Had Happened
    The User Runs    agents plan status @latest --format json
    The Plan Is Remembered
    ${resumed}    The Fingerprint Of The Sandbox
    A Plan Has Run    waiting.yaml
    The Sandbox Equals    ${resumed}

The User Rolls Back To
    [Arguments]    ${label}
    The User Runs    agents plan status @latest --format json
    The Plan Is Remembered
    The Checkpoint Is Remembered    ${label}
    The User Rolls Back
