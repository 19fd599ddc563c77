*** Settings ***
Documentation    The home directory was really moved or copied, and the database really restored from a backup.
...              Every command is a process of its own.

Library          libraries/Damage.py
Library          libraries/Homes.py
Resource         resources/agents.resource


*** Test Cases ***
A Moved Home Repairs Itself
    Given An Agent Has Made A Mistake
    And The Home Was Moved
    When The User Rolls Back
    Then The Sandbox In This Home Has    run.sh
    And The User Runs    agents doctor --format json
    And The Command Succeeds
    And The Data Field 'summary.warnings' Is    ${0}

A Copied Home Is Refused
    Given An Agent Has Made A Mistake
    And The Home Was Copied
    When The User Runs    agents plan rollback ${PLAN} ${CHECKPOINT} --yes --format json
    Then The Exit Code Is    10
    And The Error Field 'code' Is    copied_home
    And The Original Is As It Was

A Copied Home Gets An Identity Of Its Own
    Given An Agent Has Made A Mistake
    And The Home Was Copied
    When The User Runs    agents doctor --fix --format json
    Then The Command Succeeds
    And The Check 'identity' Is    fixed
    And The User Rolls Back
    And The Sandbox In This Home Has    run.sh
    And The Original Is As It Was

What An Older Database Does Not Know Is Kept
    Given A Plan Has Run    mistake.yaml
    And The Database Was Backed Up
    And A Plan Has Run    mistake.yaml
    And The Database Was Restored
    When The User Runs    agents gc --format json
    Then The Exit Code Is    3

What An Older Database Does Not Know Is Adopted
    Given A Plan Has Run    mistake.yaml
    And The Database Was Backed Up
    And A Plan Has Run    mistake.yaml
    And The Database Was Restored
    And The User Runs    agents doctor --adopt --format json
    And The Check 'quarantine' Is    fixed
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
