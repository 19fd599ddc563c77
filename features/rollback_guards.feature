Feature: Rollbacks that are refused
  A rollback that cannot be right is refused before anything is touched: one sentence, a hint, and
  everything as it was.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Rule: each guard has its own sentence

    Scenario Outline: <situation>
      Given the rollback situation "<situation>"
      When the user rolls the plan back to "after one"
      Then it is refused with the code <code> and the sentence <sentence>
      And nothing has changed

      Examples:
        | situation                                  | code | sentence                                                                      |
        | the plan is applied                        | 4    | The plan is applied and cannot be rolled back: PLAN                           |
        | the sandbox is deleted                     | 4    | The sandbox SANDBOX cannot be used: it is missing                             |
        | the sandbox is a link to another directory | 4    | The sandbox SANDBOX cannot be used: it is missing                             |
        | the sandbox is a file                      | 4    | The sandbox SANDBOX cannot be used: it is missing                             |
        | the sandbox is an unknown directory        | 4    | The sandbox SANDBOX cannot be used: it is not known to its private repository |
        | a living process holds the plan            | 6    | Plan PLAN is held by process LIVING on HOST (`agents plan execute`)           |

    Scenario Outline: Of the snapshot, <what> is <how>
      Given the user has changed the sandbox by `echo x > src/app.py`
      And of the snapshot of "before one", <what> is <how>
      When the user rolls the plan back to "before one"
      Then the exit code is 7
      And there is one sentence and a hint
      And nothing has changed

      Examples:
        | what       | how     |
        | all        | missing |
        | src/app.py | missing |
        | src/app.py | altered |

  Rule: what is not there is said to be not there

    Scenario Outline: The checkpoint <text>
      When the user rolls the plan back to the checkpoint called <text>
      Then it is refused with the code 5 and the sentence There is no checkpoint `<text>`
      And nothing has changed

      Examples:
        | text                       |
        | 01ARZ3NDEKTSV4RRFFQ69G5FAV |
        | cp_7ZZZ                    |
        | not-an-id!                 |
        | @-99                       |
        | @nonsense                  |

    Scenario: A checkpoint of another plan
      Given another plan has run too
      When the user rolls that plan back to the first plan's "after one"
      Then it is refused with the code 4 and the sentence Checkpoint «after one» belongs to plan PLAN, not to OTHER
      And nothing has changed

    Scenario: A program cannot hand over another plan's checkpoint either
      Given another plan has run too
      When a program rolls that plan back to the first plan's "after one"
      Then the program is told that Checkpoint «after one» belongs to plan PLAN, not to OTHER
      And nothing has changed

    Scenario Outline: The plan <text>
      When the user runs "agents plan rollback <text> @first --yes --format json"
      Then it is refused with the code 5 and the sentence There is no plan <plan>

      Examples:
        | text                       | plan                         |
        | 01ARZ3NDEKTSV4RRFFQ69G5FAV | `01ARZ3NDEKTSV4RRFFQ69G5FAV` |
        | shop                       | `shop`                       |
        | @-7                        | `@-7` of the project PROJECT |
