*** Settings ***
Documentation    What is wrong here was really done to an installation: files were removed, a run was killed,
...              the database was changed by other means. Every command is a process of its own.

Library          libraries/Damage.py
Resource         resources/agents.resource


*** Test Cases ***
A Healthy Installation Is Called Healthy
    Given A Plan Has Run    mistake.yaml
    When The User Runs    agents doctor --format json
    Then The Command Succeeds
    And The Document's Status Is    ok
    And The Data Field 'summary.problems' Is    ${0}
    And The Data Field 'disk.projects.0.plans.0.plan_id' Is    ${PLAN}
    And The Messages Say    Found no problems
    And The User's Repository Is Untouched

Looking Makes Nothing
    When The User Runs    agents doctor --format json
    Then The Command Succeeds
    And The Check 'home' Is    ok
    And The Home Of The Program Is Empty

A Sandbox That No Plan Has Is Kept And Named
    Given A Plan Has Run    mistake.yaml
    And There Is A Sandbox That No Plan Has
    When The User Runs    agents doctor --fix --format json
    Then The Command Succeeds
    And The Check 'quarantine' Is    warning
    And The Sandbox That No Plan Has Is Still There

Others Are Kept Out Of The Home Directory
    Given A Plan Has Run    mistake.yaml
    And Others May Look Into The Home Directory
    And The User Runs    agents doctor --format json
    And The Exit Code Is    1
    When The User Runs    agents doctor --fix --format json
    Then The Command Succeeds
    And The Check 'home' Is    fixed
    And Nobody Else May Look Into The Home Directory

A Killed Run Is Named With What Helps
    Given A Run Was Killed In The Middle Of A Step
    When The User Runs    agents doctor --fix --format json
    Then The Command Succeeds
    And The Check 'leases' Is    fixed
    And The Check 'interrupted-plans' Is    warning
    And The Hint For 'interrupted-plans' Says    agents plan resume
    And The User Lets The Long Work Finish
    And The User Runs    agents plan resume @latest --format json
    And The Command Succeeds

A Plan At Work Is Left Alone
    Given A Run Is In The Middle Of A Step
    When The User Runs    agents doctor --fix --format json
    Then The Exit Code Is    3
    And The Check 'stores' Is    warning
    And The Check 'interrupted-plans' Is    ok
    And The Sandbox Holds The File    half.txt

Lost Bytes Are Found Unless The Look Is Quick
    Given A Plan Has Run    mistake.yaml
    And Stored Bytes Are Lost
    When The User Runs    agents doctor --format json
    Then The Exit Code Is    1
    And The Check 'snapshots' Is    problem
    And The User Runs    agents doctor --quick --format json
    And The Command Succeeds

A Database Of A Newer Program Is Left As It Is
    Given A Plan Has Run    mistake.yaml
    And A Newer Program Has Changed The Database
    When The User Runs    agents doctor --fix --format json
    Then The Exit Code Is    1
    And The Check 'database' Is    problem
    And The Check 'git' Is    ok


*** Keywords ***
A Run Is In The Middle Of A Step
    The Place To Wait For Is Named In    GO_ON
    The User Starts    agents plan run '${PLANS}/waiting.yaml' --format json
    The Run Has Written    half.txt

A Run Was Killed In The Middle Of A Step
    A Run Is In The Middle Of A Step
    The Run Is Killed
