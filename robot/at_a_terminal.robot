*** Settings ***
Documentation    What only a person at a terminal sees: bars while many files are worked on, and questions.

Resource         resources/agents.resource
Library          libraries/Terminal.py


*** Variables ***
${MANY}    many-files.yaml


*** Test Cases ***
A Rollback Of Many Files Draws A Bar
    Given A Plan Has Run    ${MANY}
    When The User Types    agents plan rollback ${PLAN} @first --yes
    Then The Command Succeeds
    And The Bar Of 'Removing files' Reached    8001
    And The Screen Says    Rollback complete

An Undo Of Many Files Draws A Bar
    Given A Plan Has Run    ${MANY}
    And The User Runs    agents plan rollback ${PLAN} @first --yes
    When The User Types    agents plan undo ${PLAN} --yes
    Then The Command Succeeds
    And The Bar Of 'Writing files' Reached    8001
    And The Screen Says    Undo complete

An Apply Of Many Files Draws A Bar
    Given A Plan Has Run    ${MANY}
    When The User Types    agents plan apply ${PLAN} --yes
    Then The Command Succeeds
    And The Bar Of 'Moving files' Reached    8001
    And The Screen Says    Applied 8001 files

Nobody Looks, So No Bar Is Drawn
    Given A Plan Has Run    ${MANY}
    When The User Runs    agents plan rollback ${PLAN} @first --yes
    Then The Command Succeeds
    And No Bar Was Drawn

Control-C At A Question Changes Nothing
    Given An Agent Has Made A Mistake
    When The User Types 'agents plan rollback ${PLAN} @first' And Answers    Control-C
    Then The Exit Code Is    130
    And The Screen Says    Interrupted; nothing was changed
    And The Sandbox Still Has The Mistake

No Is The Answer Of Somebody Who Only Presses Enter
    Given An Agent Has Made A Mistake
    When The User Types 'agents plan apply ${PLAN}' And Answers    Enter
    Then The Exit Code Is    1
    And The User's Repository Is Untouched

Yes Goes Back
    Given An Agent Has Made A Mistake
    When The User Types 'agents plan rollback ${PLAN} ${CHECKPOINT}' And Answers    y
    Then The Command Succeeds
    And The Sandbox Is Orderly Again
