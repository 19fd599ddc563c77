Feature: How many checkpoints a plan keeps
  The limit counts different states: checkpoints of one state count once. The first and the newest
  state always stay, what is needed stays too, and what goes is gone from the records and from the
  mirror. Safety checkpoints do not count.

  Rule: the limit holds after every checkpoint

    Scenario Outline: A plan of two writes with a limit of <limit>
      Given a plan may keep <limit> checkpoints
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | two  | writes b.txt |
      When the user runs the plan
      Then the exit code is 0
      And the checkpoints are <labels>
      And the mirror keeps the snapshots of these and no others

      Examples:
        | limit | labels                                                                          |
        | 1     | after two, after execution                                                      |
        | 2     | before execution, before one, after two, after execution                        |
        | 3     | before execution, before one, after one, before two, after two, after execution |

    Scenario Outline: The list tells the limit of <limit> and what it took
      Given a plan may keep <limit> checkpoints
      And a plan that wrote a.txt in step one and b.txt in step two
      When the user lists the checkpoints
      Then the summary says <count> checkpoints of <states> states of at most <limit>, and <dropped> dropped

      Examples:
        | limit | count | states | dropped |
        | 3     | 6     | 3      | 0       |
        | 2     | 4     | 2      | 2       |
        | 1     | 2     | 1      | 4       |

    Scenario: A lowered limit takes effect with the next checkpoint
      Given a plan that wrote a.txt in step one and b.txt in step two
      And a plan may keep 2 checkpoints
      When the user makes a checkpoint "now"
      Then the checkpoints are before execution, before one, after two, after execution, now
      And the mirror keeps the snapshots of these and no others

    Scenario: A limit that was lowered before a failed plan continues holds from then on
      Given a plan with the steps
        | step  | does                           |
        | one   | writes a.txt                   |
        | two   | runs `test -e OUTSIDE/fixed`  |
        | three | writes c.txt                   |
      And the plan has failed
      And the user has set the limit to 2
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the checkpoints are before execution, before one, after three, after execution
      And the mirror keeps the snapshots of these and no others

    Scenario: A program can prune at once
      Given a plan that wrote a.txt in step one and b.txt in step two
      And a plan may keep 2 checkpoints
      When a program prunes the plan's checkpoints
      Then it reports 2 removed
      And the checkpoints are before execution, before one, after two, after execution
      And the mirror keeps the snapshots of these and no others

    Scenario Outline: A program that prunes where nothing is too many changes nothing
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has <progress>
      When a program prunes the plan's checkpoints
      Then it reports 0 removed
      And nothing has changed

      Examples:
        | progress  |
        | been made |
        | run       |

  Rule: what is left can be restored

    Scenario Outline: Back to "<label>" although others have gone
      Given a plan may keep 2 checkpoints
      And a plan that wrote a.txt in step one and b.txt in step two
      When the user rolls the plan back to "<label>"
      Then the exit code is 0
      And the sandbox is as it was at "<label>"
      And the checkpoints are <left>

      Examples:
        | label            | left                                                                  |
        | before execution | before execution, before rollback to before execution                 |
        | after two        | before execution, before one, after two, before rollback to after two |

    Scenario: With a limit of 1 the way back and forward still exists
      Given a plan may keep 1 checkpoints
      And a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `rm a.txt`
      When the user rolls the plan back to "after execution"
      Then the sandbox is as it was at "after execution"
      And the checkpoints are after two, after execution, before rollback to after execution

    Scenario: Going back and forth loses nothing
      Given a plan may keep 3 checkpoints
      And a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "before one", which was undone
      And the plan has been rolled back to "after one", which was undone
      When the user lists the checkpoints
      Then the summary says 10 checkpoints of 3 states of at most 3, and 0 dropped
      And the sandbox is as it was at "after execution"

    Scenario: What a rollback saved stays when others go
      Given a plan may keep 2 checkpoints
      And a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `echo mine > a.txt`
      And the plan has been rolled back to "after two"
      And the user has changed the sandbox by `echo other > a.txt`
      When the user makes a checkpoint "now"
      Then the checkpoints are before execution, before one, after two, before rollback to after two, now
      And the checkpoint "before rollback to after two" holds the project after `echo mine > a.txt; echo by two > b.txt`

  Rule: what is pinned is none of the limit's business

    Scenario: A checkpoint that is pinned stays
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoint "after one" is pinned
      And a plan may keep 2 checkpoints
      When the user makes a checkpoint "now"
      Then the checkpoints are before execution, before one, after one, before two, after two, after execution, now

    Scenario: More pins than the limit do not stop the next checkpoint
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoints "before one", "after one", "before two" are pinned
      And a plan may keep 2 checkpoints
      When the user makes a checkpoint "now"
      Then the exit code is 0
      And the checkpoints are before execution, before one, after one, before two, after two, after execution, now

    Scenario: A checkpoint that is no longer pinned goes with the next one
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoint "after one" is pinned
      And the checkpoint "after one" has been unpinned
      And a plan may keep 2 checkpoints
      When the user makes a checkpoint "now"
      Then the checkpoints are before execution, before one, after two, after execution, now

  Rule: a moment goes whole

    Scenario: Of a plan on two repositories nothing is left in part
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      And a plan may keep 2 checkpoints
      When the user runs the plan
      Then the exit code is 0
      And no moment is left in part
      And stores and records name the same snapshots

  Rule: what has gone takes no space

    Scenario: Of 200 states the right 50 are left, exact, and nothing else
      Given a plan may keep 50 checkpoints
      And a plan with 200 checkpoints of different states
      When the user reclaims space
      Then the checkpoints of the first state and the newest 49 are left
      And the store has shrunk to about what a plan with only these needs
      And each of them brings back its own state
