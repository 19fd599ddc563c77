*** Settings ***
Documentation    Two processes want the same plan, and four want plans of one project. A process of another host is one
...              that the table of leases names; the plan is waiting.yaml, whose second step waits for the user.

Resource         resources/agents.resource
Library          libraries/SeveralProcesses.py


*** Test Cases ***
The Second Process Learns Who Holds The Plan
    Given A Run Is In The Middle Of A Step
    When The User Runs    agents plan execute @latest --format json
    Then The Exit Code Is    6
    And The Error Field 'code' Is    busy
    And The Error Says    agents plan run
    And The User Lets The Long Work Finish
    And The Run Ends
    And The Command Succeeds

After A Kill The Next Process Works At Once
    Given A Run Is In The Middle Of A Step
    And The Run Is Killed
    And The User Lets The Long Work Finish
    When The User Runs    agents plan execute @latest --format json
    Then The Command Succeeds
    And The Data Field 'state' Is    complete
    And The Plan Was Held 2 Times

A Holder On Another Host Blocks
    Given A Run Is In The Middle Of A Step
    And The Run Is Killed
    And A Process Of The Host elsewhere Has Taken The Plan Over
    When The User Runs    agents plan execute @latest --format json
    Then The Exit Code Is    6
    And The Error Says    process 1 on elsewhere (`agents plan resume`)
    And The Sandbox Holds The File    half.txt

A Holder On Another Host Is Replaced When Its Lease Has Ended
    Given A Run Is In The Middle Of A Step
    And The Run Is Killed
    And The Lease Of The Host elsewhere Has Ended
    And The User Lets The Long Work Finish
    When The User Runs    agents plan execute @latest --format json
    Then The Command Succeeds
    And The Data Field 'state' Is    complete
    And The Plan Was Held 3 Times

Who Was Replaced Stores Nothing
    Given A Run Is In The Middle Of A Step
    And A Process Of The Host elsewhere Has Taken The Plan Over
    When The User Lets The Long Work Finish
    Then The Run Ends
    And The Exit Code Is    6
    And The Error Says    was taken over by process 1 on elsewhere
    And The Plan Was Held 2 Times
    And The User Runs    agents plan status @latest --format json
    And The Data Field 'last_completed_step' Is    ${0}

Four Plans Of One Project Do Not Mix
    When Four Processes Run Plans Of Their Own At The Same Time
    Then Each Checkpoint Brings Back The Files Of Its Own Plan
    And The User's Repository Is Untouched


*** Keywords ***
A Run Is In The Middle Of A Step
    The Place To Wait For Is Named In    GO_ON
    The User Starts    agents plan run '${PLANS}/waiting.yaml' --format json
    The Run Has Written    half.txt
