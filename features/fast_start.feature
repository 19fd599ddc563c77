Feature: Commands answer at once
  Users feel every millisecond of the start, and an agent's client starts a command for each of
  its calls. So a command loads what it needs and nothing else.

  Rule: the version and the help load no library

    Scenario Outline: The answer is there before any library is loaded
      When a program imports what "<command>" needs
      Then the exit code is 0
      And neither click nor msgspec nor sqlalchemy nor rich nor yaml was loaded

      Examples:
        | command          |
        | agents --version |
        | agents --help    |
        | agents -h        |

    Scenario Outline: The help is what Click lays out, on a screen of <columns> columns
      Given the variable COLUMNS is "<columns>"
      When a program prints the help with and without Click
      Then both are the same

      Examples:
        | columns |
        | 60      |
        | 80      |
        | 100     |
        | 140     |

  Rule: looking at plans loads nothing that changes them

    Background:
      Given a plan that wrote a.txt in step one and b.txt in step two

    Scenario Outline: <command> reads rows
      When a program imports what "<command>" needs
      Then the exit code is 0
      And neither sqlalchemy nor alembic nor pydantic nor rich nor yaml was loaded
      And neither sandbox nor tools nor plan_files of the infrastructure were loaded
      And the database was opened once

      Examples:
        | command                                    |
        | agents plan list                           |
        | agents plan list -f json                   |
        | agents plan status @latest                 |
        | agents plan status @latest -f json         |
        | agents plan log @latest                    |
        | agents status                              |
        | agents log                                 |
        | agents plan checkpoint list @latest        |
        | agents plan tree @latest                   |
