*** Settings ***
Documentation    What holds for every command: versions, refusals, settings that outlive the process.

Resource         resources/agents.resource


*** Test Cases ***
The Program Names Its Version
    When The User Runs    agents --version
    Then The Exit Code Is    0
    And Standard Output Contains    0.1.0

The Version And The Help Load Nothing Heavy
    The Option --version Loads None Of    alembic    click    msgspec    rich    sqlalchemy    yaml
    The Option --help Loads None Of    alembic    click    msgspec    rich    sqlalchemy    yaml

An Unknown Command Is A Usage Error
    When The User Runs    agents no-such-command
    Then The Exit Code Is    2
    And Standard Error Contains    no-such-command

A Setting Outlives The Process
    Given The User Runs    agents config set sandbox.checkpoint.max-checkpoints-per-plan 7
    When The User Runs    agents config get sandbox.checkpoint.max-checkpoints-per-plan --format json
    Then The Exit Code Is    0
    And The Data Field 'value' Is    ${7}

An Unknown Trigger Is Refused With The Valid Ones
    When The User Runs    agents config set sandbox.checkpoint.auto-create-on bogus
    Then The Exit Code Is    10
    And Standard Error Contains    bogus
    And Standard Error Contains    before_tool_execute

Settings Leave The Repository Alone
    When The User Runs    agents config set sandbox.checkpoint.max-checkpoints-per-plan 7
    Then The Exit Code Is    0
    And The User's Repository Is Untouched
