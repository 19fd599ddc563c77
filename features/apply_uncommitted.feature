Feature: Applying to a project with uncommitted work
  What the plan did not change stays as it is, staged or not. What it did change is refused, or
  merged when the user says so.

  Rule: unrelated work stays, and stays staged

    Scenario: Work of all kinds
      Given a plan that ran `echo new > new.txt; echo more >> README.md` on a project with a list of 19 lines
      And the user has since run `stage changes and leave others unstaged`
      When the user applies the plan
      Then the exit code is 0
      And git says in the project
        | command                      | expected                                                                |
        | git status --porcelain       | A  added.txt; MM list.txt; D  run.sh; ?? loose.txt                      |
        | git diff --cached --numstat list.txt | 1 1 list.txt                                                    |
        | git show --format= --numstat -m --first-parent HEAD | 1 0 README.md; 1 0 new.txt                       |
        | cat README.md                | # Shop; more                                                            |

    Scenario: A file that was only touched has not changed
      Given a plan that ran `echo more >> README.md` on a project with a list of 19 lines
      And the user has since run `touch -d @1000000000 README.md`
      When the user applies the plan
      Then the project's files are those of the sandbox

    Scenario: Ignored files stay
      Given a plan that ran `echo new > new.txt` after the user ran `echo '*.log' > .gitignore`
      And the user has since run `echo 1 > a.log`
      When the user applies the plan
      Then the project's files are those of the sandbox after `echo 1 > a.log`

  Rule: what would be overwritten is refused

    Scenario Outline: The user has <done>
      Given a plan that ran `<plan>` on a project with a list of 19 lines
      And the user has since run `<user>`
      When the user applies the plan
      Then the exit code is 4
      And the error's code is uncommitted_changes
      And the files in question are <files>
      And the project is as it was

      Examples:
        | done                        | plan                            | user                                   | files    |
        | edited such a file          | sed -i s/19/last/ list.txt      | sed -i '2s/2/two/' list.txt            | list.txt |
        | staged such a file          | sed -i s/19/last/ list.txt      | sed -i '2s/2/two/' list.txt; git add . | list.txt |
        | deleted such a file         | sed -i s/19/last/ list.txt      | rm list.txt                            | list.txt |
        | an untracked file there     | echo new > new.txt              | echo mine > new.txt                    | new.txt  |
        | an ignored file there       | echo new > new.log              | echo '*.log' > .git/info/exclude; echo 1 > new.log | new.log |
        | a file where a directory goes | mkdir d; echo x > d/x         | echo mine > d                          | d        |
        | a directory where a file goes | echo x > d                    | mkdir -p d/e                           | d        |
        | a link where a directory goes | mkdir d; echo x > d/x         | ln -s /tmp d                           | d        |
        | hidden such a file from git | sed -i s/19/last/ list.txt      | git update-index --assume-unchanged list.txt | list.txt |

  Rule: when asked to, it merges

    Scenario: An edit stays an edit, and only the plan's change is committed
      Given a plan that ran `sed -i s/19/last/ list.txt` on a project with a list of 19 lines
      And the user has since run `sed -i '2s/2/two/' list.txt`
      When the user applies the plan with `--include-uncommitted`
      Then the project's files are those of the sandbox after `sed -i '2s/2/two/' list.txt`
      And git says in the project
        | command                            | expected        |
        | git status --porcelain             | M list.txt      |
        | git diff --numstat                 | 1 1 list.txt    |
        | git show HEAD:list.txt \| sed -n 2p | line 2         |

    Scenario: What is staged stays staged
      Given a plan that ran `sed -i s/19/last/ list.txt` on a project with a list of 19 lines
      And the user has since run `sed -i '2s/2/two/' list.txt; git add list.txt`
      When the user applies the plan with `--include-uncommitted`
      Then the project's files are those of the sandbox after `sed -i '2s/2/two/' list.txt`
      And git says in the project
        | command                            | expected        |
        | git diff --numstat                 |                 |
        | git diff --cached --numstat        | 1 1 list.txt    |

    Scenario: What is staged and edited again is refused
      Given a plan that ran `sed -i s/19/last/ list.txt` on a project with a list of 19 lines
      And the user has since run `sed -i '2s/2/two/' list.txt; git add .; sed -i '3s/3/three/' list.txt`
      When the user applies the plan with `--include-uncommitted`
      Then the error's code is target_refused
      And the project is as it was

    Scenario: Edits in the same place are a conflict
      Given a plan that ran `sed -i s/19/last/ list.txt` on a project with a list of 19 lines
      And the user has since run `sed -i s/19/end/ list.txt`
      When the user applies the plan with `--include-uncommitted`
      Then the exit code is 6
      And the project is as it was

    Scenario: What rests on uncommitted work cannot be committed alone
      Given a plan that ran `echo more >> draft.txt` on the project as it was after `echo draft > draft.txt`
      When the user applies the plan with `--include-uncommitted`
      Then the exit code is 6
      And the files in question are draft.txt
      And the project is as it was

    Scenario: A plan that started from uncommitted work
      Given a plan that ran `sed -i s/19/last/ list.txt; echo more >> draft.txt` on the project as it was after `sed -i '2s/2/two/' list.txt; echo draft > draft.txt`
      When the user applies the plan with `--include-uncommitted --no-commit`
      Then the project's files are those of the sandbox
      And git says in the project
        | command                            | expected                  |
        | git status --porcelain             | M list.txt; ?? draft.txt  |
