Feature: A session that was killed
  A kill loses nothing, whether the command goes on, has not begun, or dies with the session.

  Rule: While the command runs

    Scenario: `agents run` is killed, and the command keeps running
      Given a project of the kind `git`
      When `agents run` is killed while its command keeps running and writes `late`
      Then the session is `execute/complete`, with the exit code `null`

    Scenario: A session whose process was killed is rolled back
      Given a project of the kind `git`
      And `agents run` was killed while its command went on and wrote `late`
      When the project is rolled back to the start
      Then the files of the project are as before
      And the session is `execute/complete`, with the exit code `null`
      And the last checkpoint before the rollback is `session_end`

    Scenario: What the command wrote after the kill is brought back
      Given a project of the kind `git`
      And `agents run` was killed while its command went on and wrote `late`
      And the project was rolled back to the start
      When the user runs "agents undo --yes"
      Then `cat late` in the project prints `late`

  Rule: Before the command begins

    Scenario Outline: `agents run <options>` is killed at <point>
      Given a project of the kind `git`
      When `agents run <options>` is killed at <point>
      Then the files of the project are as before
      And the session is `execute/cancelled`, with the exit code `null`

      Examples:
        | options          | point              |
        | -i               | sandbox-made       |
        | -i               | sandboxes-recorded |
        | --isolation copy | sandbox-made       |
        | --isolation copy | sandboxes-recorded |

    Scenario Outline: What it left is removed: `agents run <options>`, killed at <point>
      Given a project of the kind `git`
      And `agents run <options>` was killed at <point>
      When the user runs "agents doctor --fix"
      Then the exit code is 0
      And the session is `execute/cancelled`, with the exit code `null`
      And the session has no sandbox of its own
      And the files of the project are as before

      Examples:
        | options          | point              |
        | -i               | sandbox-made       |
        | -i               | sandboxes-recorded |
        | --isolation copy | sandbox-made       |
        | --isolation copy | sandboxes-recorded |

    Scenario Outline: A session whose command never began: <command>
      Given a project of the kind `git`
      And `agents run -i` was killed at sandbox-made
      When the user runs "agents <command>"
      Then the exit code is <code>
      And the error output says "<says>"

      Examples:
        | command             | code | says               |
        | resume              | 4    | execute/cancelled  |
        | undo --yes          | 4    | nothing to undo    |
        | rollback @first     | 5    | no checkpoint      |
        | diff                | 5    | no checkpoint      |
        | plan cancel @latest | 4    | execute/cancelled  |

    Scenario: A rollback of a session whose command never began says why there is nothing
      Given a project of the kind `git`
      And `agents run -i` was killed at sandbox-made
      And the user has run "agents doctor --fix"
      When the user runs "agents rollback"
      Then the exit code is 0
      And the error output says "There is no checkpoint to roll back to: killed before the command started"

    Scenario: The status of a session whose command never began proposes no rollback
      Given a project of the kind `git`
      And `agents run -i` was killed at sandbox-made
      And the user has run "agents doctor --fix"
      When the user runs "agents status"
      Then the exit code is 0
      And the output does not say "Go back to a checkpoint"
