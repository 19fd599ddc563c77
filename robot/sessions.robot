*** Settings ***
Documentation    Any command, run on the user's own files or in a copy, can be taken back exactly.

Resource         resources/agents.resource


*** Variables ***
${WORK}         echo changed > README.md; rm -rf src; mkdir -p new/empty; echo n > new/n; chmod 600 new/n
${AWAIT ONE}    n=0; while [ $n -lt 600 ] && ! ${AGENTS} checkpoints | grep -q one; do n=$((n + 1)); sleep 0.1; done


*** Test Cases ***
A Session In Place Is Rolled Back
    Given The User Runs    agents run -i -- sh -c '${WORK}; exit 3'
    And The Exit Code Is    3
    When The User Runs    agents rollback @first --yes --format json
    Then The Command Succeeds
    And The Data Field 'verified' Is    ${True}
    And The Change Of 'README.md' Is    restored
    And The User's Repository Is Untouched

The Rollback Of A Session Is Undone And Redone
    Given The User Runs    agents run -i -- sh -c '${WORK}'
    And The User Runs    agents rollback @first --yes --format json
    And The User Runs    agents undo --yes --format json
    And The Change Of 'new/n' Is    restored
    When The User Runs    agents redo --yes --format json
    Then The Command Succeeds
    And The Change Of 'new/n' Is    removed
    And The User's Repository Is Untouched

A Session In A Copy Leaves The Project Alone
    When The User Runs    agents run --isolation copy -- sh -c '${WORK}'
    Then The Command Succeeds
    And The User's Repository Is Untouched

A Command That Is Not There Is Not A Session
    When The User Runs    agents run -i -- no-such-command
    Then The Exit Code Is    127
    And The User's Repository Is Untouched

What A Command Writes Has Checkpoints While It Runs
    Given The User Runs
    ...    agents run -i -- sh -c 'echo one > one; ${AWAIT ONE}; rm one'
    And The Command Succeeds
    When The User Runs    agents rollback '1 file changed: one' --yes --format json
    Then The Command Succeeds
    And The Change Of 'one' Is    restored

A Session Is Rolled Back While Its Command Runs
    [Documentation]    The command itself asks, and goes on afterward.
    Given The User Runs
    ...    agents run -i -- sh -c 'echo one > one; ${AGENTS} rollback @first --yes && ! test -e one && echo two > two'
    And The Command Succeeds
    And The User Runs    agents undo --yes --format json
    And The Change Of 'two' Is    removed
    When The User Runs    agents undo --yes --format json
    Then The Command Succeeds
    And The Change Of 'one' Is    restored

A Checkpoint Is Requested While The Command Runs
    Given The User Runs
    ...    agents run -i -- sh -c 'echo one > one; ${AGENTS} plan checkpoint create @latest --label half; rm one'
    And The Command Succeeds
    When The User Runs    agents rollback half --yes --format json
    Then The Command Succeeds
    And The Change Of 'one' Is    restored
