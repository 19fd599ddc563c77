Feature: Applying to a database that others use
  A plan's result replaces a database only if nobody has written to it since the plan began.

  Rule: what others write is not lost, whatever the plan has changed

    Scenario Outline: Somebody writes when a database <change>
      Given a plan that made a database so that it <change>
      And somebody writes to the database just before it is locked
      When the user applies the plan
      Then the error's code is target_changed
      And the database still holds what somebody wrote

      Examples:
        | change                         |
        | has another row                |
        | is no longer in WAL mode       |
        | has pages of another size      |
        | has no table left              |

    Scenario Outline: Nobody writes when a database <change>
      Given a plan that made a database so that it <change>
      When the user applies the plan
      Then the exit code is 0
      And the database is that of the sandbox

      Examples:
        | change                         |
        | has another row                |
        | is no longer in WAL mode       |
        | has pages of another size      |
        | has no table left              |
