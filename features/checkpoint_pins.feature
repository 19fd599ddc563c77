Feature: Pinning checkpoints
  A pin keeps a moment whatever the limit says, until the user takes it away. It can be set while
  a plan runs, so that the run itself does not drop what somebody wants to keep.

  Rule: one command pins as many as are named, each with its whole moment

    Scenario: Several at once
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user pins the checkpoints "after one", "before one"
      Then the exit code is 0
      And the document lists the checkpoints "before one", "after one"
      And the messages are Pinned 2 checkpoints
      And the pinned checkpoints are "before one", "after one"

    Scenario: By any name that a checkpoint has, and twice is once
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user pins what is called @first cp_«after two» @-2
      Then the exit code is 0
      And the messages are Pinned 2 checkpoints
      And the pinned checkpoints are "before execution", "after two"

    Scenario: A checkpoint stands for its moment
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      And the plan has run
      When the user pins what is called @first
      Then the messages are Pinned 2 checkpoints
      And each checkpoint of that moment is called pinned

    Scenario: What a rollback went past can be kept too
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user pins the checkpoints "after two"
      Then the exit code is 0
      And the pinned checkpoints are "after two"

    Scenario: While another process runs the plan
      Given a plan with the steps
        | step | does                                                                                                       |
        | one  | runs `touch a.txt OUTSIDE/begun; while ! test -e OUTSIDE/fixed && test -d OUTSIDE; do sleep 0.05; done` |
        | two  | writes b.txt                                                                                               |
      And a plan may keep 1 checkpoints
      And the plan has been made
      And another process is executing the plan
      When the user pins the checkpoints "before one"
      Then the exit code is 0
      And the other process ends well once the cause of its waiting is fixed
      And the checkpoints are before execution, before one, after two, after execution

  Rule: what is so already stays so

    Scenario: Pinning what is pinned
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoint "after one" is pinned
      When the user pins the checkpoints "after one"
      Then the exit code is 0
      And the messages are 1 checkpoint was already pinned
      And nothing has changed

    Scenario: Unpinning what is not pinned
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user unpins the checkpoints "after one", "after two"
      Then the exit code is 0
      And the messages are 2 checkpoints were not pinned
      And nothing has changed

    Scenario: Some of each
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoint "after one" is pinned
      When the user unpins the checkpoints "after one", "after two"
      Then the messages are Unpinned 1 checkpoint; 1 checkpoint was not pinned
      And no checkpoint is pinned

  Rule: pins are seen

    Scenario Outline: The list as <format>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoint "after one" is pinned
      When the user runs "agents plan checkpoint list @latest --format <format>"
      Then only the line of "after one" says that it is pinned

      Examples:
        | format |
        | color  |
        | table  |
        | plain  |

    Scenario: The log
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the checkpoint "after one" is pinned
      And the checkpoint "after one" is pinned
      And the checkpoint "after one" has been unpinned
      When the user asks what happened to the plan with --limit 2
      Then the log says
        | what                | details                        |
        | checkpoint.pinned   | Checkpoint `after one` pinned   |
        | checkpoint.unpinned | Checkpoint `after one` unpinned |

  Rule: what is not there cannot be pinned

    Scenario Outline: <texts>
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user <verb> what is called <texts>
      Then it is refused with the code 5 and the sentence There is no checkpoint `<unknown>`
      And nothing has changed

      Examples:
        | verb   | texts                             | unknown                    |
        | pins   | @first 01ARZ3NDEKTSV4RRFFQ69G5FAV | 01ARZ3NDEKTSV4RRFFQ69G5FAV |
        | unpins | @-99                              | @-99                       |

    Scenario: No checkpoint is named
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user runs "agents plan checkpoint pin @latest"
      Then the exit code is 2

    Scenario: A checkpoint of another plan
      Given a plan that wrote a.txt in step one and b.txt in step two
      And another plan has run too
      When a program pins the first plan's "after one" as if it were that plan's
      Then the program is told that Checkpoint «after one» belongs to plan PLAN, not to OTHER
      And nothing has changed
