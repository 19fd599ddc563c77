*** Settings ***
Documentation    Any command, run in a private view of the project, can be taken back exactly.

Resource         resources/agents.resource


*** Variables ***
${WORK}      echo changed > README.md; rm -rf src; mkdir -p new/empty; echo n > new/n; chmod 600 new/n
${COMMIT}    git add -A; git -c user.name=A -c user.email=a@b commit -qm agent


*** Test Cases ***
A Private View Leaves The Project Alone And Is Rolled Back Exactly
    [Setup]    Private Views Are Permitted
    Given The User Runs    agents run -- sh -c '${WORK}; ${COMMIT}; exit 3'
    And The Exit Code Is    3
    And The User's Repository Is Untouched
    When The User Runs    agents rollback @first --yes --format json
    Then The Command Succeeds
    And The Data Field 'verified' Is    ${True}
    And The Change Of 'README.md' Is    restored
    And The Change Of '.git/' Is    restored
    And The User's Repository Is Untouched

The Rollback Of A Private View Is Undone And Redone
    [Setup]    Private Views Are Permitted
    Given The User Runs    agents run --isolation private -- sh -c '${WORK}; ${COMMIT}'
    And The User Runs    agents rollback @first --yes --format json
    And The User Runs    agents undo --yes --format json
    And The Change Of 'new/n' Is    restored
    When The User Runs    agents redo --yes --format json
    Then The Command Succeeds
    And The Change Of 'new/n' Is    removed
    And The User's Repository Is Untouched

A Private View Needs No Privileges
    [Setup]    Private Views Are Permitted
    Given Another User Has Taken Over
    And The User Runs    agents run -- sh -c '${WORK}; ${COMMIT}'
    And The Command Succeeds
    And The User's Repository Is Untouched
    When The User Runs    agents rollback @first --yes --format json
    Then The Command Succeeds
    And The Data Field 'verified' Is    ${True}
    And The User's Repository Is Untouched

What A Private View Holds Is Applied
    [Setup]    Private Views Are Permitted
    Given The User Runs    agents run -- sh -c '${WORK}'
    When The User Runs    agents apply --yes --format json
    Then The Command Succeeds
    And The Repository Has    new/n    n

Without A Private View The Command Does Not Start
    Given The Git Directory Is Elsewhere
    When The User Runs    agents run -- sh -c '${WORK}'
    Then The Exit Code Is    125
    And The User's Repository Is Untouched
