*** Settings ***
Documentation    The tools that plans may use: those that come with the program, all of them once, and those that
...              packages offer. A package is put on the import path as an installer would put it there.

Resource         resources/agents.resource


*** Test Cases ***
The Tools Are Listed With What They Declare
    When The User Runs    agents tool list --format json
    Then The Command Succeeds
    And The Document Has The Fields Of An Envelope
    And Each Of 'tools' Has
    ...    name    description    writes    read_only    checkpointable    checkpoint_scope
    ...    side_effects    idempotent    unsafe    timeout    source

A Tool Is Shown With Its Inputs
    When The User Runs    agents tool show edit-file --format json
    Then The Data Field 'name' Is    edit-file
    And The Data Field 'source' Is    built-in
    And The Data Field 'parameters.old.required' Is    ${True}

An Unknown Tool Is Answered With The Nearest
    When The User Runs    agents tool show aply-patch --format json
    Then The Exit Code Is    5
    And The Error Says    apply-patch

One Plan Uses Every Tool
    Given The User Writes The File    app.db
    When A Plan Has Run    all-tools.yaml
    Then The Sandbox Holds The Lines    found.txt
    ...    {"n": 3}
    ...    moved/c.txt    notes/a.txt
    ...    notes/a.txt:2: zwei
    ...    one    zwei    drei
    ...    HELLO
    And The User's Repository Is Untouched

A Rollback Takes Files And Rows Back
    Given The User Writes The File    app.db
    And A Plan Has Run    all-tools.yaml
    And The Checkpoint Is Remembered    before create
    When The User Rolls Back
    And The User Runs    agents plan execute ${PLAN} --format json
    Then The Command Succeeds
    And The Sandbox Holds The Line    found.txt    {"n": 3}

A Package Offers A Tool
    Given A Package Offers The Tool    count-lines
    When A Plan Has Run    package-tool.yaml
    Then The Sandbox Holds The Lines    count.txt    1

A Broken Package Harms Nobody Else
    Given A Broken Package Offers The Tool    count-lines
    When The User Runs    agents tool list --format json
    Then The Command Succeeds
    And The Messages Say    acme 1.2
    And A Plan Has Run    three-tools.yaml
