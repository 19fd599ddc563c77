*** Settings ***
Documentation    The content and configuration of a repository are data. Everything by which git can be made to
...              run a program is set up; whatever runs leaves a mark, and nothing may.

Resource         resources/agents.resource


*** Test Cases ***
A Hostile Repository Runs Nothing
    Given The Repository Is Hostile
    When A Plan Runs And Is Rolled Back
    Then Nothing Of The Repository Was Executed
    And The User's Repository Is Untouched

The User's Own Git Configuration Runs Nothing Either
    Given The User's Git Configuration Is Hostile
    When A Plan Runs And Is Rolled Back
    Then Nothing Of The Repository Was Executed
    And The User's Repository Is Untouched

What An Agent Configures In Its Sandbox Is Not Run By Us
    Given The Mark Is Named In    EXECUTED
    When A Plan Has Run    hostile-agent.yaml
    And The User Runs    agents plan rollback ${PLAN} @first --yes --format json
    Then The Data Field 'verified' Is    ${True}
    And Nothing Of The Repository Was Executed
    And The User's Repository Is Untouched

No Identity Is Needed
    Given The User Has No Git Identity
    When A Plan Runs And Is Rolled Back
    Then The User's Repository Is Untouched

Variables Of Git Lead Nowhere Else
    Given The Environment Has    GIT_DIR    /nonexistent/repository
    And The Environment Has    GIT_WORK_TREE    /nonexistent/tree
    And The Environment Has    GIT_INDEX_FILE    /nonexistent/index
    And The Environment Has    GIT_OBJECT_DIRECTORY    /nonexistent/objects
    When A Plan Runs And Is Rolled Back
    Then The User's Repository Is Untouched

Line Ending Rules Do Not Change What Is Restored
    Given The User Writes The File    .gitattributes    * text=auto eol=crlf
    And The User Commits    Line endings
    When A Plan Runs And Is Rolled Back
    Then The User's Repository Is Untouched

A Repository With A Submodule Is Refused Whole
    Given The Repository Has A Submodule
    When The User Runs    agents plan run '${PLANS}/mistake.yaml' --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    project_refused
    And The Error Says    submodule
    And The User's Repository Is Untouched

Work That Is Not Committed Stays The User's
    Given The User Writes The File    README.md    not committed
    And The User Writes The File    notes.txt    not even added
    When A Plan Runs And Is Rolled Back
    Then The User's Repository Is Untouched


*** Keywords ***
A Plan Runs And Is Rolled Back
    An Agent Has Made A Mistake
    The User Runs    agents plan diff ${PLAN} --format json
    The Command Succeeds
    The User Rolls Back
    The Data Field 'verified' Is    ${True}
    The Sandbox Is Orderly Again
