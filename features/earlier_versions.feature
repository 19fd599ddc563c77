Feature: A home directory of an earlier version
  Plans, checkpoints and sandboxes that an earlier version left are reported, restored, resumed
  and applied as that version would have done it, byte for byte.

  Background:
    Given the home directory that version 0.1.0 left behind

  Rule: nothing that was recorded is lost

    Scenario: Every report still has what it had
      When the user asks for every report on every plan
      Then each report has what it had in that version

  Rule: every checkpoint is restored exactly

    Scenario Outline: Rolling back <what>
      When the user rolls the plan <plan> back to each of its checkpoints
      Then each rollback ends as in that version, with the same files and state hashes

      Examples:
        | plan        | what                                                          |
        | complete    | git, a directory and a database with odd names and gaps       |
        | failed      | a plan that failed                                            |
        | rolled-back | a plan that was rolled back before                            |
        | undone      | a plan whose rollback was undone                              |
        | corrected   | a plan with a corrected decision                              |
        | family      | a plan with subplans                                          |
        | conflict    | a plan in conflict                                            |
        | partial     | a plan with checkpoints that a deadline cut short             |
        | unreadable  | a plan with a file that could not be read                     |
        | interrupted | a plan whose last rollback was killed                         |
        | cancelled   | a plan that was cancelled                                     |
        | applied     | a plan that was applied                                       |

  Rule: every plan can be continued

    Scenario Outline: A user <action>
      When the user <action> from the earlier version
      Then it ends as in that version, with the same files

      Examples:
        | action                             |
        | undoes the rollback of rolled-back |
        | redoes the rollback of undone      |
        | undoes the correction of corrected |
        | resumes failed                     |
        | resumes rolled-back                |
        | resumes interrupted                |
        | executes queued                    |
        | resolves conflict                  |
        | applies complete                   |
        | applies family                     |
        | applies failed                     |
        | cancels partial                    |
        | collects what is not needed        |
