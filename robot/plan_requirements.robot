*** Settings ***
Documentation    What a plan must reach and keep, resources that share a sandbox, and finding plans, by the installed
...              command.

Resource         resources/agents.resource


*** Test Cases ***
Requirements Are Met And Accepted
    Given A Plan Has Run    requirements.yaml
    When The User Runs    agents plan apply ${PLAN} --yes --format json
    Then The Command Succeeds
    And The Data Field 'definition_of_done.0.status' Is    met
    And The Data Field 'invariants.0.status' Is    accepted

A Criterion That Is Not Met Holds The Plan Back
    Given The User Runs    agents plan run '${PLANS}/requirements.yaml' --arg file=other.txt
    And The Command Succeeds
    When The User Runs    agents plan apply @latest --yes --format json
    Then The Exit Code Is    4
    And The Error Field 'code' Is    validation_failed
    And The User's Repository Is Untouched

Two Names Of One Repository Share A Sandbox
    When A Plan Has Run    requirements.yaml
    Then The Data Field 'execution.shared.0.resource' Is    again
    And The Data Field 'execution.shared.0.sandbox' Is    project

The Reasoning Of A Decision Is Shown
    Given A Plan Has Run    requirements.yaml
    And The User Runs    agents plan tree @latest --format json
    And The Data Field 'summary.invariants' Is    ${1}
    ${decision}    The Data Field    tree.children.1.decision_id
    When The User Runs    agents plan explain ${decision} --show-reasoning --format json
    Then The Data Field 'actor_reasoning' Is    Files need no server.

Plans Are Found By Their Names
    Given A Plan Has Run    requirements.yaml
    And A Plan Has Run    applied.yaml
    When The User Runs    agents plan list --action robot/applied '^robot' --format json
    Then The Command Succeeds
    And The Data Field 'summary.total' Is    ${1}
    And The Data Field 'plans.0.name' Is    robot/applied
    And The Data Field 'filters.regex' Is    ^robot

A Setting Chooses The Strategy
    When The User Runs    agents config get sandbox.strategy --format json
    Then The Command Succeeds
    And The Data Field 'value' Is    git_worktree
