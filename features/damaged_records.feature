Feature: Damaged records
  A record that cannot be read is named, and what it describes is used as far as possible.

  Rule: The files of a checkpoint can be restored whatever happened to its description

    Scenario Outline: A rollback to a checkpoint whose description is <damage>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the description of "after one" is <damage>
      When the user rolls the plan back to the damaged checkpoint
      Then the plan is execute/queued with 1 steps done
      And the sandbox is the project after `echo by one > a.txt`

      Examples:
        | damage                           |
        | cut off after its first byte     |
        | an empty object                  |
        | text that is not UTF-8           |
        | without a number of its step     |
        | one whose last step is a word    |

    Scenario: The plan can continue from there
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the description of "after one" is cut off after its first byte
      And the user has rolled the plan back to the damaged checkpoint
      When the user executes the plan
      Then the plan is execute/complete with 2 steps done
      And the steps that ran are 2

    Scenario: The list shows what else is known of such a checkpoint
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the description of "after one" is cut off after its first byte
      When the user looks at the damaged checkpoint
      Then the output says "after one"

    Scenario: A checkpoint that contradicts its group is not used
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the description of "after one" is that of another state
      When the user rolls the plan back to the damaged checkpoint
      Then it is refused with the code 7 and the sentence The record of checkpoint DAMAGED is damaged
      And nothing has changed

    Scenario Outline: Verifying names a record that every rollback needs: <table>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the <column> of a row of <table> is <value>
      When the user runs "agents plan checkpoint verify @latest"
      Then the exit code is 7
      And the output says "cannot be read (table `<table>`)"

      Examples:
        | table      | column        | value     |
        | tool_calls | input_json    | {         |
        | decisions  | decision_type | not UTF-8 |

  Rule: An error names the record that cannot be read

    Scenario Outline: A damaged <column> of <table> is reported with the record
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the <column> of a row of <table> is <value>
      When the user runs "<command>"
      Then the exit code is 1
      And the error names the damaged record of <table>

      Examples:
        | table               | column          | value          | command                              |
        | plans               | phase           | sleeping       | agents plan status @latest              |
        | plans               | definition_json | {              | agents plan status @latest              |
        | plans               | created_at      | not UTF-8      | agents plan status @latest              |
        | sandboxes           | created_at      | a blob         | agents plan status @latest              |
        | tool_calls          | input_json      | {              | agents plan output @latest              |
        | decisions           | decision_type   | not UTF-8      | agents plan tree @latest                |
        | checkpoint_metadata | size_bytes      | big            | agents plan checkpoint list @latest     |
        | checkpoint_groups   | snapshots_json  | [1]            | agents plan rollback @latest @-1 --yes  |
