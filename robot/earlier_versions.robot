*** Settings ***
Documentation    A user installs this version over an earlier one: the plans, checkpoints and sandboxes of the
...              earlier version are listed, restored and applied by the installed command.

Resource         resources/agents.resource
Library          libraries/EarlierHome.py

Test Setup       The Home Directory Of Version 0.1.0 Is Unpacked


*** Test Cases ***
Plans And Checkpoints Are Listed
    The Plans And The Checkpoints Are Listed As Before    complete

A Checkpoint Is Restored
    The Oldest Checkpoint Restores What It Restored Before    complete

A Plan Is Applied
    It Ends As Before When The User    applies complete
