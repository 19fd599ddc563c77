Feature: What a command asks of a large database
  A command reads what it shows. How many questions it asks the database does not depend on how
  many plans there are, except where each plan's snapshots are looked at.

  Scenario Outline: <command> asks <more> more questions for each plan
    When "<command>" runs in a home with 2 plans and in one with 12
    Then it asks <more> more questions for each further plan

    Examples:
      | command                             | more |
      | agents plan list                    | 0    |
      | agents plan list -f json            | 0    |
      | agents plan status @latest          | 0    |
      | agents plan checkpoint list @latest | 0    |
      | agents log                          | 0    |
      | agents gc --dry-run                 | 1    |
      | agents doctor                       | 2    |
