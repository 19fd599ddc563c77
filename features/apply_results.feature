@disk
Feature: Whatever a plan did arrives in the project
  Names, types, modes and sizes of all kinds, and what the agent did with its git, end as files.

  Rule: the files are those of the sandbox

    Scenario Outline: <what>
      Given a plan that ran `<plan>` after the user ran `<start>`
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                      | expected |
        | git status --porcelain       |          |
        | git fsck --connectivity-only |          |

      Examples:
        | what                          | start                              | plan                                                     |
        | A directory becomes a file    | mkdir d; echo 1 > d/x; echo 2 > d/y | rm -r d; echo 3 > d                                     |
        | A file becomes a directory    | echo 1 > d                         | rm d; mkdir -p d/e; echo x > d/e/x                       |
        | A link becomes a directory    | ln -s src d                        | rm d; mkdir d; echo 1 > d/x                              |
        | A directory becomes a link    | mkdir d; echo 1 > d/x              | rm -r d; ln -s src d                                     |
        | A program becomes a text      | echo 1 > p; chmod 755 p            | chmod 644 p; echo 2 >> p                                 |
        | A text becomes a program      | true                               | chmod 755 README.md; chmod 700 src; chmod 4750 run.sh    |
        | Odd names                     | true                               | touch -- -dash ' space ' 'q"uo\te' "$(printf 'a\nb')" "$(printf 'x\377')" |
        | Something empty               | true                               | : > empty; mkdir -p hollow/deep                          |
        | A large file                  | true                               | head -c 20000000 /dev/urandom > large                    |
        | A directory to be read only   | mkdir e; echo 1 > e/f; echo 2 > e/g | mkdir d; echo 1 > d/x; rm e/f; chmod 555 d e            |
        | Everything is gone            | true                               | rm -r README.md list.txt run.sh src                      |

    Scenario: Commits of the agent arrive as their result
      Given a plan that ran `commit, branch, commit and tag, and leave a new file` after the user ran `true`
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                                          | expected                    |
        | git status --porcelain                           |                             |
        | git log --topo-order --format=%s \| head -3      | Apply plan local/shop; Plan local/shop; list |
        | git for-each-ref --format='%(refname)'           | refs/heads/main             |

    Scenario: It is committed in the user's name
      Given a plan that ran `echo new > new.txt` after the user ran `git config user.name Grace; git config user.email grace@example.org`
      When the user applies the plan
      Then git says in the project
        | command                                    | expected                                  |
        | git log -1 --format='%an %ae %cn'          | Grace grace@example.org Grace             |
        | git log -1 --format='%an %ae' HEAD^2       | Grace grace@example.org                   |
        | git reflog -1 --format='%gn'               | Grace                                     |

    Scenario: Git's own variables say who the author is
      Given a plan that ran `echo new > new.txt` after the user ran `git config user.name Grace; git config user.email grace@example.org`
      And the environment of the user says that the author is Alan
      When the user applies the plan
      Then git says in the project
        | command                                    | expected                                  |
        | git log -1 --format='%an %ae %cn'          | Alan alan@example.org Grace               |

  Rule: what git ignores is not committed

    Scenario: It gets into the working tree only
      Given a plan that wrote a.log, and then had git ignore it
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                                  | expected    |
        | git status --porcelain --ignored         | !! a.log    |
        | git show --format= --name-only -m --first-parent HEAD | .gitignore |

    Scenario: The user has the same
      Given a plan that wrote a.log, and then had git ignore it
      And the user has since run `echo 'by log' > a.log`
      When the user applies the plan
      Then the project's files are those of the sandbox

    Scenario: A file of the user's stays
      Given a plan that wrote a.log, and then had git ignore it
      And the user has since run `echo mine > a.log`
      When the user applies the plan
      Then the error's code is uncommitted_changes
      And the files in question are a.log
      And the project is as it was

    Scenario: A directory in which everything is ignored does not arrive empty
      Given a plan that ran `echo 1 > new.txt; mkdir -p c/d; echo '*' > c/.gitignore; echo 1 > c/d/f; chmod 700 c` after the user ran `true`
      When the user applies the plan
      Then the project's files are those of the sandbox after `rm -r c`

    Scenario: A directory that had files keeps its name while something ignored is in it
      Given a plan that ran `rm d/x; echo '*' > d/.gitignore` after the user ran `mkdir d; echo 1 > d/x`
      When the user applies the plan
      Then the project's files are those of the sandbox after `rm d/.gitignore`

    Scenario: What the agent added all the same is committed
      Given a plan that ran `echo '*.log' > .gitignore; echo 1 > a.log; git add -f a.log` after the user ran `true`
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                 | expected |
        | git ls-files a.log      | a.log    |

    Scenario: A new branch does not have it
      Given a plan that wrote a.log, and then had git ignore it
      When the user applies the plan with `--branch result`
      Then git says in the project
        | command                              | expected      |
        | git diff --name-status main result   | A .gitignore  |

  Rule: what a commit would not show is refused as well

    Scenario: Something of the user's is where a file goes
      Given a plan that ran `rm -r d; echo 3 > d` after the user ran `mkdir d; echo 1 > d/x`
      And the user has since run `mkdir d/deep; echo mine > d/deep/mine; ln -s /tmp d/link`
      When the user applies the plan
      Then the error's code is uncommitted_changes
      And the files in question are d/deep/mine, d/link
      And the project is as it was
