Feature: Undoing an apply
  The project is then as before the apply: its files, its branch, and what is staged. The plan is
  complete again, its sandbox is there again, and it can be applied again.

  Rule: everything is as before the apply

    Scenario Outline: Applied with `<options>` to a project with work in progress
      Given a plan with work whose result is applied with `<options>` to a project with other work
      When the user undoes the apply
      Then everything in the project is as before the apply
      And the sandbox is there again, as it was
      And the plan is execute/complete with 1 steps done
      And the undo names the apply, and step 1: work as the next to undo
      And the newest event is plan.unapplied

      Examples:
        | options               |
        | --include-uncommitted |
        | --no-commit           |
        | --branch new          |

    Scenario: Applied on top of commits of the user
      Given a plan with work whose result is applied to a project that has moved on
      When the user undoes the apply
      Then everything in the project is as before the apply
      And git says in the project
        | command                | expected |
        | git status --porcelain |          |

    Scenario: On a project without commits
      Given a plan on a project without commits that ran `echo new > new.txt`
      And the result has been applied with ``
      When the user undoes the apply
      Then everything in the project is as before the apply

    Scenario: Directories that can only be read
      Given a plan that ran `echo new > new.txt; mkdir d; echo 1 > d/x; rm src/app.py; chmod 555 d src` after the user ran `mkdir src/more; echo 1 > src/more/y`
      And the result has been applied with ``
      When the user undoes the apply
      Then everything in the project is as before the apply

    Scenario Outline: A repository, a directory and a database, with the cleanup <cleanup>
      Given the variable CLEVERAGENTS_SANDBOX_CLEANUP is "<cleanup>"
      And a plan with a decision that has changed a repository, a directory and a database
      And the result has been applied with ``
      When the user undoes the apply
      Then everything in the project is as before the apply
      And the directory and the database are as before the apply
      And every sandbox is there again, as it was

      Examples:
        | cleanup  |
        | on_apply |
        | manual   |

    Scenario: What the user has done to other files stays
      Given a plan with work whose result is applied to a project that has moved on
      And the user has since run `echo mine > own.txt; echo more >> README.md`
      When the user undoes the apply
      Then everything in the project is as before the apply, besides `echo mine > own.txt; echo more >> README.md`

    Scenario: A child plan that was applied with its parent
      Given a plan with a subplan that has been applied
      When the user undoes the apply
      Then every plan is execute/complete
      And everything in the project is as before the apply

  Rule: it can be applied again

    Scenario: By redo, with the same result
      Given a plan with work whose result is applied to a project that has moved on
      And the last operation has been undone
      When the user redoes what was undone last
      Then everything in the project is as after the apply
      And the plan is apply/applied with 1 steps done
      And nothing is left to redo

    Scenario: By apply, back and forth
      Given a plan with work whose result is applied to a project that has moved on
      And the last operation has been undone
      And the last undo has been redone
      And the last operation has been undone
      When the user applies the plan
      Then the exit code is 0
      And the files are those that the apply had left
      And nothing is left to redo

    Scenario: The project has changed since the undo
      Given a plan with work whose result is applied to a project that has moved on
      And the last operation has been undone
      And the user has since run `echo mine > new.txt`
      When the user redoes what was undone last
      Then it is refused with the code 4 and the sentence PROJECT has changed since: new.txt changed
      And its hint has "agents plan apply PLAN"
      And nothing in the project has changed

    Scenario: The plan has gone on since the undo
      Given a plan with work whose result is applied to a project that has moved on
      And the last operation has been undone
      And the plan has been rolled back to "before execution"
      When the user redoes what was undone last
      Then it is refused with the code 4 and the sentence There is nothing to redo: no undo of this plan is in effect

  Rule: it asks, and can be rehearsed

    Scenario: A rehearsal
      Given a plan with work whose result is applied to a project that has moved on
      When the user rehearses undoing
      Then nothing in the project has changed
      And the undo would change the project
        | file       | action   |
        | new.txt    | removed  |
        | src/app.py | restored |
        | list.txt   | restored |

    Scenario Outline: Answering "<answer>"
      Given the user sits before a terminal
      And a plan with work whose result is applied to a project that has moved on
      When the user answers "<answer>" when asked to undo
      Then the exit code is <code>
      And the error output says "removed new.txt"

      Examples:
        | answer | code |
        | y      | 0    |
        | n      | 1    |
