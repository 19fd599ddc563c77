*** Settings ***
Documentation    The first thing a new user runs. It needs nothing, touches nothing of theirs, and shows a
...              verified rollback, its undoing, a corrected decision, and its result in the project.

Resource         resources/agents.resource


*** Test Cases ***
The Demo Goes Back, Forth And Another Way
    When The User Runs    agents demo --format json
    Then The Command Succeeds
    And The Data Field 'verified' Is    ${True}
    And The Data Field 'project_untouched' Is    ${True}
    And The Change Of 'src/main.py' Is    restored
    And The Data Field 'undone.as_before' Is    ${True}
    And The Data Field 'corrected.now' Is    leftovers
    And The Data Field 'result.3' Is    src/main.py
    And The Data Field 'applied.branch' Is    main

The Demo Can Be Read
    When The User Runs    agents demo --format rich
    Then The Command Succeeds
    And Standard Output Contains    before tidy up
    And Standard Output Contains    src/main.py
    And Standard Output Contains    Verified: the mistake is gone

The Demo Leaves Nothing Behind
    Given Temporary Files Have A Place Of Their Own
    When The User Runs    agents demo
    Then The Command Succeeds
    And There Are No Temporary Files
    And The User's Repository Is Untouched
    And The Home Of The Program Is Empty

The Demo Can Be Kept And Looked At
    Given Temporary Files Have A Place Of Their Own
    And The User Runs    agents demo --keep --format json
    ${directory}    The Data Field    directory
    And The Environment Has    CLEVERAGENTS_HOME    ${directory}/home
    When The User Runs    agents plan list --format json
    Then The Data Field 'summary.total' Is    ${1}
    And The Data Field 'plans.0.name' Is    demo/add-greeting

The Demo Does Not Mind The User's Settings
    Given The Environment Has    CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON    []
    When The User Runs    agents demo --format json
    Then The Command Succeeds
    And The Data Field 'verified' Is    ${True}
