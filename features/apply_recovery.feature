Feature: What somebody did between a killed apply and the next command
  Nobody's work is overwritten: the next command completes the apply, undoes it, or says what is in
  its way.

  Background:
    Given a plan that ran `echo new > new.txt; sed -i s/19/last/ list.txt` on a project with a list of 19 lines

  Rule: what can be completed is completed

    Scenario Outline: Killed at <point>, and then the user ran `<command>`
      Given the apply was killed at <point>
      And the user has since run `<command>`
      When the user applies the plan
      Then the exit code is 0
      And it warns that "An interrupted apply was completed"
      And the plan is apply/applied with 1 steps done
      And git says in the project
        | command                                              | expected              |
        | git log --format=%s --first-parent \| grep -c Apply  | 1                     |
        | git show HEAD:new.txt                                | new                   |
        | tail -1 list.txt                                     | line last             |

      Examples:
        | point          | command                                                  |
        | target-settled | echo 2 > mine.txt; git add mine.txt; git commit -qm mine |
        | target-settled | echo more >> new.txt                                     |
        | branch-moved   | rm .git/index.lock                                       |
        | file-placed    | rm .git/index.lock                                       |
        | file-placed    | echo 2 > mine.txt                                        |
        | target-written | echo more >> new.txt                                     |
        | target-written | rm .git/index.lock; echo more >> new.txt                 |

  Rule: what cannot be completed is undone

    Scenario: The user has edited such a file before it was touched
      Given the apply was killed at target-locked
      And the user has since run `sed -i '2s/2/two/' list.txt`
      When the user applies the plan
      Then the exit code is 4
      And the error's code is uncommitted_changes
      And the project has no lock, and list.txt is as the user left it
      And the plan is execute/complete with 1 steps done

    Scenario: The user has done half of it by hand before anything was touched
      Given the apply was killed at target-locked
      And the user has since run `echo new > new.txt; sed -i '2s/2/two/' list.txt`
      When the user applies the plan
      Then the error's code is uncommitted_changes
      And the project has no lock, and list.txt is as the user left it
      And the plan is execute/complete with 1 steps done

    Scenario: The user has committed before anything was touched
      Given the apply was killed at apply-journaled
      And the user has since run `echo 2 > mine.txt; git add mine.txt; git commit -qm mine`
      When the user applies the plan
      Then the project's files are those of the sandbox after `echo 2 > mine.txt`

  Rule: what would be done is not predicted in the middle of it

    Scenario: A dry run
      Given the apply was killed at file-placed
      When the user applies the plan with `--dry-run`
      Then the exit code is 6
      And the error tells that "was interrupted"
      And the project is as it was

    Scenario: A dry run after a killed validation leaves the sandbox alone
      Given a plan that writes new.txt, with the validations
        | name | run           | mode     |
        | mess | echo > junk   | required |
      And the apply was killed at validation-ended
      When the user applies the plan with `--dry-run`
      Then the exit code is 0
      And there is junk in the sandbox

  Rule: what is in the way is named

    Scenario: The user has edited what was half done
      Given the apply was killed at file-placed
      And the user has since run `echo mine > list.txt; echo mine > new.txt; git config x.y z`
      And one of these is as the apply left it
      When the user applies the plan
      Then the exit code is 7
      And the error tells that "list.txt changed"

  Rule: a validation that is interrupted leaves nothing

    Scenario: The user stops it
      Given a plan that writes new.txt, with the validations
        | name | run                                    | mode     |
        | stop | echo > junk; kill -INT $PPID; sleep 20 | required |
      When the user applies the plan
      Then the exit code is 130
      And the project is as it was
      And the plan is execute/complete with 1 steps done
      And there is no junk in the sandbox
