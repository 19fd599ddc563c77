*** Settings ***
Documentation    Bringing a plan's result into the user's repository, by the installed command: all of it, or the
...              repository stays as it is, byte for byte.

Resource         resources/agents.resource
Library          libraries/Neighbours.py

Test Setup       The Repository Is Remembered


*** Test Cases ***
A Result Is Merged Into The Branch And The Files
    Given A Plan Has Run    applied.yaml
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Data Field 'lifecycle.state' Is    applied
    And The Data Field 'lifecycle.decisions_made' Is    ${1}
    And Git Says In    ${REPOSITORY}    Apply plan robot/applied    log    -1    --format=%s
    And Git Says In    ${REPOSITORY}    ${EMPTY}    status    --porcelain
    And Git Says In    ${REPOSITORY}    README.md; new.txt    ls-files

Twice Is Refused
    Given A Plan Has Run    applied.yaml
    And The User Runs    agents plan apply ${PLAN} --yes --format json
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    plan_state

A Failed Apply Can Be Rolled Back
    Given A Plan That Will Be Held Back Has Run
    And The User Runs    agents plan apply ${PLAN} --yes --format json
    And The Error Field 'code' Is    validation_failed
    When The User Runs    agents plan rollback ${PLAN} @first --yes --format json
    Then The Command Succeeds
    And The Data Field 'verified' Is    ${True}
    And The User's Repository Is Untouched

A Full Disk Leaves The Repository As It Was
    Given The Repository Is On A Small Disk
    And A Plan Has Run    applied.yaml
    When The Disk Of The Repository Has Room For Pages    3
    And The User Runs    agents plan apply ${PLAN} --yes --format json
    And The Disk Of The Repository Has Room Again
    Then Git Says In    ${REPOSITORY}    Start    log    --format=%s
    And Git Says In    ${REPOSITORY}    ${EMPTY}    status    --porcelain
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
    And Git Says In    ${REPOSITORY}    README.md; new.txt    ls-files

The Project Has Moved On
    Given A Plan Has Run    applied.yaml
    And The User Has Since Committed    ${REPOSITORY}    mine.txt    mine
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
    And Git Says In    ${REPOSITORY}    README.md; mine.txt; new.txt    ls-files
    And Git Says In    ${REPOSITORY}    ${EMPTY}    status    --porcelain

The Project Has Moved The Same Lines
    Given A Plan Has Run    applied.yaml
    And The User Has Since Committed    ${REPOSITORY}    README.md    mine
    And The User Writes The File    README.md    mine
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Exit Code Is    6
    And The Error Field 'details.files' Is    ${{ ["README.md"] }}
    And The User's Repository Is Untouched

Unrelated Work Stays As It Is
    Given A Plan Has Run    applied.yaml
    And The User Writes The File    staged.txt    staged
    And The User Runs Git In    ${REPOSITORY}    add    staged.txt
    And The User Writes The File    loose.txt    loose
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
    And Git Says In    ${REPOSITORY}    A${SPACE * 2}staged.txt; ?? loose.txt    status    --porcelain

Three Resources Get The Result
    Given A Directory And A Database Lie Beside    ${REPOSITORY}
    And A Plan Has Run    three-resources.yaml
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
    And Git Says In    ${REPOSITORY}    README.md; new.txt; run.sh    ls-files
    And The File Beside Says    ${REPOSITORY}    new
    And The Database Beside Holds    ${REPOSITORY}    1    2

The Third Of Three Resources Cannot Get It
    Given A Directory And A Database Lie Beside    ${REPOSITORY}
    And A Plan Has Run    three-resources.yaml
    And The Database Beside Gets The Number    ${REPOSITORY}    3
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Exit Code Is    6
    And The User's Repository Is Untouched
    And The File Beside Says    ${REPOSITORY}    old
    And The Database Beside Holds    ${REPOSITORY}    1    3


*** Keywords ***
The Repository Is Remembered
    ${repository}    The Repository Path
    VAR    ${REPOSITORY}    ${repository}    scope=TEST

A Plan That Will Be Held Back Has Run
    The User Runs    agents plan run '${PLANS}/applied.yaml' --arg word=old --format json
    The Command Succeeds
    The Plan Is Remembered
