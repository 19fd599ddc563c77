*** Settings ***
Documentation    deciding.yaml takes one of two options and then fails, until the user has fixed the cause.

Resource         resources/agents.resource


*** Test Cases ***
A Plan Says What It Decided
    Given A Plan Has Decided And Failed
    When The User Runs    agents plan tree @latest --format json
    Then The Command Succeeds
    And The Data Field 'tree.type' Is    prompt_definition
    And The Data Field 'tree.children.0.question' Is    Where do greetings live?
    And The Data Field 'tree.children.0.chosen' Is    file
    And The Data Field 'tree.children.1.type' Is    error_recovery

A Decision Is Explained
    Given A Plan Has Decided And Failed
    And The User Runs    agents plan tree @latest --format json
    ${decision}    The Data Field    tree.children.0.decision_id
    When The User Runs    agents plan explain ${decision} --format json
    Then The Data Field 'rationale' Is    no server needed
    And The Data Field 'impact.artifacts_produced.0' Is    store.txt
    And The Data Field 'checkpoint' Is An Id

A Failure Tells What You Can Do
    Given A Plan Has Decided And Failed
    When The User Runs    agents plan errors @latest --format json
    Then The Command Succeeds
    And The Data Field 'error.step' Is    4 of 4
    And The Data Field 'recovery_hints.0.action' Is    inspect
    And The Data Field 'recovery_hints.1.cli_command' Is    agents plan resume ${PLAN}

A Rehearsal Says Where It Would Go On
    Given A Plan Has Decided And Failed
    When The User Runs    agents plan resume @latest --dry-run --format json
    Then The Command Succeeds
    And The Data Field 'eligible' Is    ${True}
    And The Data Field 'step_name' Is    check
    And The Data Field 'decision_id' Is An Id

A Failed Plan Is Resumed
    Given A Plan Has Decided And Failed
    And The User Lets The Long Work Finish
    When The User Runs    agents plan resume @latest --format json
    Then The Command Succeeds
    And The Data Field 'state' Is    complete
    And The Data Field 'last_checkpoint_id' Is An Id
    And The Sandbox Holds The File    store.txt
    And The User's Repository Is Untouched

A Plan Is Cancelled And Taken Up Again
    Given A Plan Has Decided And Failed
    And The User Runs    agents plan cancel @latest --reason 'enough of it' --format json
    And The Data Field 'state' Is    cancelled
    When The User Runs    agents plan rollback @latest @first --yes --format json
    Then The Command Succeeds
    And The User Runs    agents plan status @latest --format json
    And The Data Field 'state' Is    queued


*** Keywords ***
A Plan Has Decided And Failed
    The Place To Wait For Is Named In    GO_ON
    A Plan Has Failed    deciding.yaml
