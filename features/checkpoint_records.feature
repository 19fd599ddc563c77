Feature: What a checkpoint costs besides the bytes
  A checkpoint is made around every write, so its records must stay cheap: their cost follows
  neither how many checkpoints nor how many tool calls there were before.

  Rule: the records of a checkpoint cost the same every time

    Scenario: Each checkpoint reads the records twice and writes them once
      Given a plan that wrote a.txt in step one and b.txt in step two
      When a program makes 6 checkpoints
      Then each took two reading transactions and one writing transaction

    Scenario: The thirtieth checkpoint asks no more than the tenth
      Given a plan may keep 5 checkpoints
      And a plan that wrote a.txt in step one and b.txt in step two
      When a program makes 30 checkpoints
      Then the database had as much to do for the last as for the tenth

    Scenario: A checkpoint's record does not grow with the tool calls before it
      Given a plan with 25 steps that each write a file
      When the user runs the plan
      Then the record of "after step 24" is as long as that of "after step 12"

  Rule: a checkpoint says what was stored since the one before it

    Scenario Outline: With the triggers "<triggers>" the bytes are counted at "<label>"
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "<triggers>"
      And a plan with the steps
        | step  | does                                       |
        | one   | runs `head -c 100000 /dev/urandom > a.bin` |
        | two   | writes b.txt                               |
        | three | runs `<third>`                             |
      When the user runs the plan
      Then the checkpoint "<label>" added about 100000 bytes, and the others less than 9000

      Examples:
        | triggers                               | third           | label           |
        | []                                     | true            | after execution |
        | before_tool_execute,after_tool_execute | true            | after one       |
        | after_step                             | true            | after step 1: one |
        | on_error                               | touch c; exit 7 | before three    |

  Rule: a checkpoint knows which tool calls were in effect

    Scenario: Going back and forth undoes calls and brings them back
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user rolls the plan back to "before rollback to after one"
      Then the tool calls in effect are
        | step | tool       | status    |
        | 1    | write-file | succeeded |
        | 2    | write-file | succeeded |

    Scenario: After a rollback and another run the undone call stays undone
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user executes the plan
      Then the steps that ever ran are 1, 2, 2
      And the checkpoint "after execution" knows the calls 1 and 3

    Scenario Outline: A checkpoint of an older program can be restored
      Given a plan that wrote a.txt in step one and b.txt in step two
      And its checkpoints are recorded as an older program did
      When the user rolls the plan back to "<label>"
      Then the sandbox is as it was at "<label>"
      And <count> tool calls are in effect

      Examples:
        | label            | count |
        | before execution | 0     |
        | after one        | 1     |
        | after two        | 2     |
