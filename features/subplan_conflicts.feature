Feature: Subplans that change the same
  What cannot be merged is a conflict: the plan waits until somebody says what holds.

  Background:
    Given a plan whose subplans run parallel
      | subplan | does                                                      |
      | one     | runs `echo one > README.md; echo 1 > one.txt`             |
      | two     | runs `echo two > README.md; echo 2 > two.txt`             |
      | three   | runs `echo 3 > three.txt`                                 |

  Rule: a conflict is a state of the parent

    Scenario: The plan stops, lists the files, and keeps what could be merged
      When the user runs the plan
      Then the exit code is 6
      And the error is "Subplan `two` conflicts with the parent in: README.md"
      And the plan is execute/conflict with 1 steps done
      And README.md in the sandbox has the lines of both between markers
      And two.txt in the sandbox is `2\n`

    Scenario: The conflicts are listed
      Given the plan has come into conflict
      When the user asks for the conflicts
      Then the exit code is 0
      And the conflicts listed are
        | path      | resource | kind    | marked | subplan |
        | README.md | project  | content | True   | two     |

    Scenario: What went wrong names them too
      Given the plan has come into conflict
      When the user asks for the plan's errors
      Then the conflicts listed are
        | path      | subplan |
        | README.md | two     |

    Scenario: Nothing can be applied or run meanwhile
      Given the plan has come into conflict
      When the user applies the plan
      Then it is refused with the code 4 and the sentence A plan in execute/conflict cannot be applied
      And the project is as it was

    Scenario: Resuming is refused with what is open
      Given the plan has come into conflict
      When the user executes the plan
      Then the exit code is 6
      And the error is "Subplan `two` conflicts with the parent in: README.md"

  Rule: somebody resolves it, and the plan continues

    Scenario Outline: Taking <how>
      Given the plan has come into conflict
      And the user has taken <how> at README.md
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo begin > begin.txt; echo <what> > README.md; echo 1 > one.txt; echo 2 > two.txt; echo 3 > three.txt; echo end > end.txt`

      Examples:
        | how    | what |
        | mine   | one  |
        | theirs | two  |

    Scenario: Edited by hand
      Given the plan has come into conflict
      And the user has edited README.md in the sandbox to `both\n`
      When the user takes edited at everything
      Then the exit code is 0
      And the plan is execute/queued with 1 steps done
      And README.md in the sandbox is `both\n`

    Scenario: Edited, and markers are left
      Given the plan has come into conflict
      When the user takes edited at README.md
      Then it is refused with the code 4 and the sentence Conflict markers are still in README.md
      And the plan is execute/conflict with 1 steps done

    Scenario: Finished children are not run again, and the result can be applied
      Given the plan has come into conflict
      And the user has taken theirs at README.md
      And the plan has been executed
      When the user applies the plan
      Then the exit code is 0
      And the project's files are those of the sandbox after `true`

    Scenario: A rollback to before the resolution opens the conflict again
      Given the plan has come into conflict
      And the user has taken theirs at README.md
      And the plan has been rolled back to "after subplan two"
      When the user executes the plan
      Then the exit code is 6
      And the error is "Subplan `two` conflicts with the parent in: README.md"

  Rule: what is asked for wrongly is refused

    Scenario Outline: A wrong call
      Given the plan has come into conflict
      When the user calls conflicts with `<options>`
      Then it is refused with the code <code> and the sentence <sentence>

      Examples:
        | options               | code | sentence                                                   |
        | --take mine           | 2    | Give `--take` together with paths or `--all` |
        | README.md             | 2    | Give `--take` together with paths or `--all` |
        | --take mine README    | 5    | There is no open conflict at `README`                      |

    Scenario: A plan without conflicts
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user calls conflicts with `--take mine --all`
      Then the exit code is 0
      And nothing has changed
