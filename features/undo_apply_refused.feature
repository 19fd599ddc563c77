Feature: An apply is undone only while the project is as the apply left it
  Otherwise the refusal says what has changed since, and what the user can do instead.

  Rule: it is refused once the project has changed

    Scenario Outline: <what>
      Given a plan with work whose result is applied to a project that has moved on
      And the user has since run `<command>`
      When the user undoes the apply
      Then it is refused with the code 4 and a sentence with "<sentence>"
      And its hint has "git revert"
      And nothing in the project has changed
      And the plan is apply/applied with 1 steps done

      Examples:
        | what                         | command                                            | sentence                                         |
        | A commit on top              | echo x > x.txt; git add x.txt; git commit -qm more | `main` has moved by 1 commit                     |
        | The branch was moved back    | git reset -q --hard HEAD~1                         | new.txt, src/app.py changed                      |
        | Another branch               | git checkout -qb other                             | `other` is checked out instead of `main`         |
        | An edit                      | echo mine >> new.txt                               | new.txt changed                                  |
        | A file gone                  | rm new.txt                                         | new.txt changed                                  |
        | A file in place of a removed | echo mine > src/app.py                             | src/app.py changed                               |
        | A directory in its place     | mkdir -p src/app.py; echo 1 > src/app.py/y         | src/app.py changed                               |
        | Other permissions            | chmod 600 new.txt                                  | new.txt changed                                  |
        | Something staged             | echo z >> README.md; git add README.md             | something else is staged: README.md              |
        | A merge in progress          | cp .git/HEAD .git/MERGE_HEAD                       | a merge in progress                              |

    Scenario Outline: <what>, with a branch of its own
      Given a plan with work whose result is applied with `--branch new` to a project with other work
      And the user has since run `<command>`
      When the user undoes the apply
      Then it is refused with the code 4 and a sentence with "<sentence>"
      And its hint has "git branch -D new"
      And nothing in the project has changed

      Examples:
        | what           | command                                                                                   | sentence               |
        | A commit on it | git branch -f new "$(git commit-tree -p new -m more new:)"                                 | `new` has moved by 1   |
        | It is gone     | git branch -qD new                                                                         | `new` is gone          |
        | Checked out    | git worktree add -q ../linked new                                                          | `new` is checked out   |

    Scenario Outline: Of three resources, <what>
      Given a plan with a decision that has changed a repository, a directory and a database
      And the result has been applied with ``
      And the user has since run `<command>`
      When the user undoes the apply
      Then it is refused with the code 4 and a sentence with "<sentence>"
      And nothing in the project has changed

      Examples:
        | what         | command                                 | sentence          |
        | the directory | echo mine >> ../files/b.txt            | b.txt changed     |
        | the database | add row 9 to the goods in ../app.db     | it was written to |
