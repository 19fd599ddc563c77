*** Settings ***
Documentation    What is tested here is the product as users get it: the wheel, installed in an environment
...              of its own, one process for each action, all state on disk. `nox -s integration_tests`
...              builds and installs it and gives the path of its command as AGENTS.

Resource         resources/agents.resource

Suite Setup      The Command Is Installed From The Wheel
Test Timeout     40 minutes
