Feature: Applying to a project that has moved on
  The merge is computed in the private mirror. What cannot be merged leaves the project as it was.

  Rule: what both did is merged

    Scenario Outline: The user has <done>
      Given a plan that ran `<plan>` on a project with a list of 19 lines
      And the user has since run `<user>; git add -A; git commit -qm mine`
      When the user applies the plan
      Then the project's files are those of the sandbox after `<user>`
      And git says in the project
        | command                | expected |
        | git status --porcelain |          |

      Examples:
        | done                         | plan                       | user                                     |
        | written another file         | echo new > new.txt         | echo mine > mine.txt                     |
        | changed another part         | sed -i s/19/last/ list.txt | sed -i '2s/2/two/' list.txt              |
        | done the same                | echo new > new.txt         | echo new > new.txt                       |
        | deleted another file         | echo new > new.txt         | rm src/app.py                            |
        | made the same file a program | echo more >> README.md     | chmod +x README.md                       |
        | deleted the same file        | rm src/app.py              | rm -f src/app.py                         |
        | deleted what got other bits  | chmod 640 README.md        | rm -f README.md                          |
        | set the same bits            | chmod 640 README.md        | chmod 640 README.md; echo x > x.txt      |
        | made it a program            | chmod 600 README.md; echo more >> README.md | chmod +x README.md      |

    Scenario: A plan that changed nothing
      Given a plan that ran `true` on a project with a list of 19 lines
      And the user has since run `mkdir .git/rebase-merge`
      When the user applies the plan
      Then the exit code is 0
      And the project is as it was
      And the plan is apply/applied with 1 steps done

    Scenario: A file that the user renamed gets the change under its new name
      Given a plan that ran `sed -i s/19/last/ list.txt` on a project with a list of 19 lines
      And the user has since run `git mv list.txt names.txt; git commit -qm mine`
      When the user applies the plan
      Then the project's files are those of the sandbox after `mv list.txt names.txt`

    Scenario: History that the user has rewritten is not brought back
      Given a plan that ran `echo new > new.txt` on a project with a list of 19 lines
      And the user has since run `echo mine > mine.txt; git add -A; git commit -q --amend -m other`
      When the user applies the plan
      Then the project's files are those of the sandbox after `echo mine > mine.txt`
      And git says in the project
        | command                         | expected                                   |
        | git log --format=%s \| head -2  | Apply plan local/shop; other               |
        | git rev-list --count HEAD       | 3                                          |

  Rule: a conflict ends it, and the project is as it was

    Scenario Outline: The user has <done>
      Given a plan that ran `<plan>` on a project with a list of 19 lines
      And the user has since run `<user>; git add -A; git commit -qm mine`
      When the user applies the plan
      Then the exit code is 6
      And the files in question are <files>
      And the project is as it was
      And the plan is execute/complete with 1 steps done

      Examples:
        | done                      | plan                                     | user                       | files    |
        | changed the same line     | sed -i s/19/last/ list.txt               | sed -i s/19/end/ list.txt  | list.txt |
        | deleted what was changed  | echo more >> README.md                   | rm README.md               | README.md |
        | made another such file    | echo new > new.txt                       | echo mine > new.txt        | new.txt  |

    Scenario: As a branch it can be applied all the same
      Given a plan that ran `sed -i s/19/last/ list.txt` on a project with a list of 19 lines
      And the user has since run `sed -i s/19/end/ list.txt; git commit -qam mine`
      When the user applies the plan with `--branch theirs`
      Then the exit code is 0
      And git says in the project
        | command                            | expected |
        | git show theirs:list.txt \| tail -1 | line last |
        | git rev-parse main~1 theirs^ \| uniq \| wc -l | 1 |
