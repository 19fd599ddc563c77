Feature: Subplans, disturbed at every stage
  Whatever stage a plan with subplans dies at, resuming it comes to the end that an
  undisturbed run comes to, and children that have ended are not run again.

  Background:
    Given a plan whose subplans run parallel
      | subplan | does                                                  |
      | docs    | runs `echo docs >> OUTSIDE/runs; echo d > docs.txt`   |
      | tests   | runs `echo tests >> OUTSIDE/runs; echo t > tests.txt` |

  Rule: the parent is killed

    Scenario Outline: Killed at <point>
      Given the plan has been made
      When executing it is killed each time its family is at <point>, and then resumed
      Then the end was each time that of a run that nothing had interrupted

      Examples:
        | point             |
        | children-recorded |
        | child-forked      |
        | child-ended       |
        | resource-merged   |
        | child-merged      |
        | merge-recorded    |

    Scenario: Children that have ended are not run again
      Given the plan has been made
      When executing it is killed at merge-recorded, and then resumed
      Then the runs were docs tests

    Scenario: Children of a killed parent end, and go on with it
      Given the first subplan waits for a file and the second has ended
      When the parent is killed, and resumed once the file is there
      Then the exit code is 0
      And the second subplan ran once

    Scenario: Ctrl-C stops the children too, and all of it can be gone on with
      Given the first subplan waits for a file and the second has ended
      When the parent is interrupted, and resumed once the file is there
      Then the exit code is 0
      And the interrupted run ended with the code 130
      And the second subplan ran once

  Rule: a resolution is killed

    Scenario: Killed when the file is there and no record says so
      Given the plan has come into conflict over README.md
      When taking theirs is killed at conflict-resolved, and then done again
      Then the exit code is 0
      And README.md in the sandbox is `two\n`

  Rule: a child's sandbox is lost

    Scenario: Before it has run
      Given a child was killed before its first checkpoint, and its sandbox is deleted
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo begin > begin.txt; echo d > docs.txt; echo t > tests.txt; echo end > end.txt`
