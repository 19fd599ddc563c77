Feature: Judging a plan's result before it is applied
  Validations run in the sandbox and leave it as it was. A required one that fails holds the plan back.

  Rule: a required failure holds the plan back

    Scenario: The project is as it was, and the plan says why
      Given a plan that writes new.txt, with the validations
        | name  | run                             | mode          |
        | tests | echo broken; test -f old.txt    | required      |
        | style | test -f new.txt                 | required      |
        | notes | false                           | informational |
      When the user applies the plan
      Then the exit code is 4
      And the error's code is validation_failed
      And the project is as it was
      And the plan is apply/constrained with 1 steps done
      And the validations on record are
        | name  | mode          | status | output |
        | tests | required      | failed | broken |
        | style | required      | passed |        |
        | notes | informational | failed |        |

    Scenario: What was held back can be tried again
      Given a plan that was held back by a validation that would pass now
      When the user applies the plan
      Then the project's files are those of the sandbox
      And the plan is apply/applied with 1 steps done

    Scenario: What was held back can be rolled back
      Given a plan that was held back by a validation that would pass now
      When the user rolls the plan back to "before execution"
      Then the plan is execute/queued with 0 steps done

    Scenario: What was held back can be discarded
      Given a plan that was held back by a validation that would pass now
      When the user cancels the plan
      Then the plan is apply/cancelled with 1 steps done

    Scenario: One that takes too long fails
      Given a plan that writes new.txt, with the validations
        | name  | run      | mode     | timeout |
        | tests | sleep 60 | required | 1       |
      When the user applies the plan
      Then the error's code is validation_failed
      And the project is as it was

    Scenario: The log says what each found
      Given a plan that writes new.txt, with the validations
        | name  | run             | mode          |
        | style | test -f new.txt | required      |
        | notes | echo no; exit 3 | informational |
      And the plan has been applied
      When the user asks what happened to the plan with --limit 7
      Then the log says
        | what               | details                                                       |
        | validation.started | Validation `style` started                                    |
        | validation.passed  | Validation `style` passed after a while                       |
        | validation.started | Validation `notes` started                                    |
        | validation.failed  | Validation failed after a while: `notes` failed with status 3: no |
        | apply              | Started: apply (commit)                                       |
        | plan.state_changed | Plan is now apply/applied                                     |
        | plan.applied       | Plan applied                                                  |
        | sandbox.committed  | Sandbox of `project` applied to the project                   |

  Rule: validations only look

    Scenario: What one changes is undone and not applied
      Given a plan that writes new.txt, with the validations
        | name | run                                          | mode     |
        | fix  | echo fixed > new.txt; echo > junk; mkdir d   | required |
        | look | test ! -e junk; grep -q work new.txt         | required |
      When the user applies the plan
      Then the project's files are those of the sandbox
      And it warns that "The validation `fix` changed the sandbox, which was restored: d, junk, new.txt"

    Scenario: They know the plan's arguments
      Given a plan that writes new.txt, with the validations
        | name | run                         | mode     |
        | look | test {{ word }} = "by work" | required |
      When the user applies the plan
      Then the exit code is 0

    Scenario: They are named before the question
      Given a plan that writes new.txt, with the validations
        | name | run   | mode     |
        | look | true  | required |
        | feel | true  | required |
      When the user answers "n" when asked to apply
      Then the exit code is 1
      And the error output says "Validations run first: look, feel"

    Scenario: What happened is in the log
      Given a plan that writes new.txt, with the validations
        | name | run  | mode     |
        | look | true | required |
      When the user applies the plan
      Then the events entered include validation.started, validation.passed, plan.applied, sandbox.committed

  Rule: nothing that one leaves behind stays, ignored or not

    Scenario: A directory that ignores itself does not hold the next apply back
      Given a plan that was held back by a validation that left a directory that ignores itself
      When the user applies the plan
      Then the project's files are those of the sandbox
      And the sandbox has no .cache
      And every snapshot has a record

    Scenario Outline: What no checkpoint holds is as it was, after <what>
      Given a plan that left ignored files, with the validation `<run>`
      When the user applies the plan
      Then the sandbox is what the plan left

      Examples:
        | what                   | run                                                                          |
        | new ones came          | echo 1 > b.log; mkdir -p out/c; echo 1 > out/c/f; mkdir n; echo 1 > n/x.log  |
        | new ones came in a new directory that has others too | mkdir n; echo 1 > n/x.log; echo 1 > n/x.txt    |
        | one was written to     | echo 2 >> a.log; echo 2 > out/f                                              |
        | one was made again     | rm a.log; echo 1 > a.log                                                     |
        | they were removed      | rm -r a.log out link.log                                                     |
        | one became a directory | rm a.log; mkdir a.log; echo 1 > a.log/f                                      |
        | a directory became one | rm -r out; echo 1 > out                                                      |
        | a link was followed    | echo 2 > link.log                                                            |
        | it cannot be entered   | mkdir n; echo 1 > n/x.log; chmod 0 n                                         |
        | a pipe was made        | mkfifo p.log p                                                               |

    Scenario: What can be made again is not copied
      Given a plan that left ignored files, with the validation `test $(ls ../.project.uncaptured | wc -l) = 4`
      When the user applies the plan
      Then the exit code is 3

    Scenario Outline: It is as it was, too, after a kill at <point>
      Given a plan that left ignored files, with the validation `echo 2 > a.log; echo 1 > b.log; rm -r out`
      And the apply was killed at <point>
      When the user applies the plan
      Then the sandbox is what the plan left

      Examples:
        | point               |
        | uncaptured-kept     |
        | validation-ended    |
        | uncaptured-restored |

    Scenario: Copying fails
      Given a plan that left ignored files, with the validation `true`
      And the disk next to the sandbox is full
      When the user applies the plan
      Then the exit code is 1
      And the error tells that "What no checkpoint holds could not be copied: "
      And the project is as it was
