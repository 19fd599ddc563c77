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

    Scenario Outline: With <setting>, the mirror of an applied plan
      Given sandboxes are removed <setting>
      And a plan that was applied
      When the user asks for the plan's status
      Then its private repository has <left> of it besides its checkpoints
      And a check of the installation finds nothing

      Examples:
        | setting     | left                      |
        | on_apply    | nothing                   |
        | on_terminal | nothing                   |
        | manual      | a worktree and a branch   |

    Scenario Outline: When <trouble>, giving a plan up
      Given a plan that writes new.txt, with the validations
        | name | run  | mode     |
        | look | true | required |
      And for the apply <trouble>
      When the user runs `agents plan cancel PLAN --discard --yes` for it
      Then the exit code is 0
      And it warns that "<reason>"

      Examples:
        | trouble                       | reason                                                  |
        | the sandbox is in use         | The sandbox is in use                                   |
        | the sandbox cannot be removed | The sandbox SANDBOX could not be removed: Permission denied |

    Scenario: A sandbox that is in use stays for the moment
      Given sandboxes are removed on_apply
      And a plan that writes new.txt, with the validations
        | name | run  | mode     |
        | look | true | required |
      And for the apply the sandbox is in use
      When the user applies the plan
      Then the exit code is 3
      And the plan is apply/applied with 1 steps done
      And it warns that "The sandbox is in use; run `agents gc` to try again"

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

  Rule: what a kill left goes with the next command

    Scenario Outline: Applied, killed at <point>, then `<command>`
      Given sandboxes are removed on_apply
      And a plan that has changed a repository, a directory and a database, killed at <point> when it was applied
      When the user runs `<command>` for it
      Then the sandboxes are gone, and nothing but checkpoints is left of the plan
      And the plan is apply/applied with 4 steps done

      Examples:
        | point           | command              |
        | apply-recorded  | agents gc            |
        | apply-recorded  | agents doctor --fix  |
        | apply-recorded  | agents plan apply PLAN --yes |
        | sandbox-removed | agents gc            |
        | sandbox-removed | agents doctor --fix  |
        | branch-moved    | agents plan execute PLAN |

    Scenario: Cancelled, killed before the sandbox was removed
      Given sandboxes are removed on_terminal
      And a plan that failed, killed at cancel-recorded when it was cancelled
      When the user runs `agents gc` for it
      Then the sandboxes are gone, and nothing but checkpoints is left of the plan

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
