*** Settings ***
Documentation    What is wrong here was really done to an installation, by other means than the program.
...              Every command is a process of its own.

Library          libraries/Ailments.py
Resource         resources/agents.resource


*** Test Cases ***
A Healthy Installation Is Called Healthy
    Given A Plan Has Run    mistake.yaml
    When The User Runs    agents doctor --format json
    Then The Command Succeeds
    And The Document's Status Is    ok
    And The Data Field 'summary.problems' Is    ${0}
    And The Messages Say    All is well
    And The User's Repository Is Untouched

Looking Makes Nothing
    When The User Runs    agents doctor --format json
    Then The Command Succeeds
    And The Check 'home' Is    ok
    And The Home Of The Program Is Empty

Others Are Kept Out Of The Home Directory
    Given A Plan Has Run    mistake.yaml
    And Others May Look Into The Home Directory
    And The User Runs    agents doctor --format json
    And The Exit Code Is    1
    When The User Runs    agents doctor --fix --format json
    Then The Command Succeeds
    And The Check 'home' Is    fixed
    And Nobody Else May Look Into The Home Directory

A Database Of A Newer Program Is Left As It Is
    Given A Plan Has Run    mistake.yaml
    And A Newer Program Has Changed The Database
    When The User Runs    agents doctor --fix --format json
    Then The Exit Code Is    1
    And The Check 'database' Is    problem
    And The Check 'git' Is    ok
