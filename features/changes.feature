Feature: Every change has an author
  The sandboxes are read before and after each call, checkpoint or not, so that it is known
  what the call did, a shell command's doings included.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Rule: the changes of a call are listed path by path

    Scenario Outline: <command>
      Given the program looks at the sandboxes around each of its calls
      When a call runs `<command>`
      Then the call changed <changes>

      Examples:
        | command                    | changes                                               |
        | true                       | nothing                                               |
        | echo 1 > new               | new created in project                                |
        | echo 1 >> a.txt; rm b.txt  | a.txt modified in project; b.txt deleted in project   |
        | chmod 600 a.txt            | a.txt mode_changed in project                         |
        | ln -sf b.txt a.txt         | a.txt type_changed in project                         |
        | mkdir -p d/e               | d created in project; d/e created in project          |
        | git checkout -q -b other   | nothing                                               |

  Rule: the snapshots for it are safe while they are needed, and go afterwards

    Scenario: Snapshots made only to list changes are dropped
      Given the program looks at the sandboxes around each of its calls
      When 5 calls each change a file
      Then the store keeps one snapshot more than the checkpoints name
      And the next run of the plan drops it

    Scenario: A state whose last record is dropped meanwhile can still be compared
      Given a plan may keep 1 checkpoints
      And the program read the sandboxes before a call
      And a checkpoint is made that drops the record of that state
      When a call runs `rm later; echo 1 > new`
      Then the call changed new created in project

    Scenario: A call that changed nothing leaves nothing
      Given the program read the sandboxes before a call
      When the call ends without having changed anything
      Then the call changed nothing
