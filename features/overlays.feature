@disk
Feature: Large directories can be overlaid
  An overlay is made in constant time: the directory itself lies below and is only read.

  Rule: What a plan writes stays in its own layer

    Scenario: Changes do not reach the directory
      Given an overlay of a directory made by `mkdir -p d/e; echo 1 > d/f; echo 2 > g; chmod 751 .`
      When the agent runs `echo 3 > d/f; rm g; mkdir new; echo 4 > new/h` there
      Then the sandbox holds only d, d/e, d/f, new, new/h
      And the directory is as it was

    Scenario: Names that mount options could misread are no trouble
      Given a directory called `a,b:c\d` for the plan
      And an overlay of a directory made by `echo 1 > f`
      When the agent runs `echo 2 > f` there
      Then the sandbox holds only f
      And the directory is as it was

    Scenario: After a reboot it is mounted again
      Given an overlay of a directory made by `echo 1 > f`
      And the agent has run `echo 2 > g` there
      When the computer is restarted and the sandbox is checked
      Then the sandbox holds only f, g

    Scenario: Removing it leaves nothing mounted and the directory whole
      Given an overlay of a directory made by `mkdir d; echo 1 > d/f`
      And the agent has run `rm -r d` there
      When the sandbox is removed, twice
      Then a check says that it is missing
      And the directory is as it was

  Rule: Where it is not possible it says so

    Scenario Outline: <what> is refused
      Given an overlay of a directory made by `echo 1 > f`
      And for the overlay <circumstance>
      When somebody tries to <act> the overlay
      Then that is refused because <reason>
      And the directory is as it was

      Examples:
        | what                          | circumstance           | act    | reason             |
        | Removing one that is in use   | a process works there  | remove | is in use          |
        | Unmounting without permission | permission is missing  | remove | cannot be unmounted |
        | A lost layer                  | its layers have gone   | check  | cannot be          |

    Scenario Outline: A system that <lack>
      Given a directory made by `echo 1 > f`
      And a system that <lack>
      When a plan gets the sandbox called overlay
      Then that is refused because an overlay of it cannot be mounted
      And the hint is to use `strategy: filesystem_copy`
      And no trace of the sandbox is left

      Examples:
        | lack                       |
        | does not permit mounting   |
        | is not Linux               |
