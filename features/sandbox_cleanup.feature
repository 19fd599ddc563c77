Feature: What becomes of sandboxes
  A plan that has ended loses its sandbox as the configuration says; its checkpoints stay. Finished
  work that is not applied is never removed unasked.

  Rule: the setting decides

    Scenario Outline: With <setting>, a plan that <end>
      Given sandboxes are removed <setting>
      And a plan that <end>
      When the user asks for the plan's status
      Then its sandbox was <sandbox>

      Examples:
        | setting     | end                              | sandbox |
        | on_apply    | was applied                      | removed |
        | on_terminal | was applied                      | removed |
        | manual      | was applied                      | kept    |
        | on_apply    | failed and was cancelled         | kept    |
        | on_terminal | failed and was cancelled         | removed |
        | on_terminal | has run and was cancelled        | kept    |
        | manual      | has run and was cancelled with --discard | removed |
        | on_terminal | was held back and was cancelled  | kept    |

    Scenario: What it changed can still be seen
      Given sandboxes are removed on_apply
      And a plan that was applied
      When the user compares the plan's checkpoints
      Then the files that differ are
        | path    | status | change |
        | new.txt | added  | +1 -0  |

    Scenario: A setting that there is not is refused
      Given sandboxes are removed never
      When the user lists the plans with --state applied
      Then the exit code is 10

  Rule: running and applying in one go

    Scenario: The result is applied
      Given a plan that writes new.txt, with the validations
        | name | run  | mode     |
        | look | true | required |
      When the user runs the plan with --apply
      Then the exit code is 0
      And the plan is apply/applied with 1 steps done
      And git says in the project
        | command                | expected              |
        | git log -1 --format=%s | Apply plan local/shop |

    Scenario: What is held back tells the plan
      Given a plan that writes new.txt, with the validations
        | name | run   | mode     |
        | look | false | required |
      When the user runs the plan with --apply
      Then the exit code is 4
      And the document tells the plan's id, and that it is apply/constrained

    Scenario: What fails is not applied
      Given a plan with the steps
        | step | does         |
        | one  | runs `false` |
      When the user runs the plan with --apply
      Then the exit code is 8
      And the project is untouched
