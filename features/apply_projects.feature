Feature: Applying to projects of all kinds
  Whatever state the project's git is in, it is moved whole or refused with a reason.

  Rule: any HEAD will do

    Scenario: Detached
      Given a plan that ran `echo new > new.txt` after the user ran `true`
      And the user has since run `git checkout -q --detach`
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                             | expected              |
        | git log -1 --format=%s HEAD         | Apply plan local/shop |
        | git log -1 --format=%s main         | list                  |
        | git status --porcelain              |                       |

    Scenario: Without any commit
      Given a plan on a project without commits that ran `echo new > new.txt`
      When the user applies the plan
      Then the exit code is 0
      And git says in the project
        | command                        | expected              |
        | git log --format=%s            | Apply plan local/shop |
        | git ls-tree --name-only HEAD   | new.txt               |
        | git status --porcelain         | ?? loose.txt          |

    Scenario: Another branch than the plan started from
      Given a plan that ran `echo new > new.txt` after the user ran `true`
      And the user has since run `git checkout -q -b other`
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                        | expected              |
        | git symbolic-ref HEAD          | refs/heads/other      |
        | git log -1 --format=%s main    | list                  |

    Scenario: A linked worktree, whose git is elsewhere
      Given the project is a linked worktree
      And a plan that ran `echo new > new.txt` after the user ran `true`
      When the user applies the plan
      Then git says in the project
        | command                        | expected              |
        | git log -1 --format=%s         | Apply plan local/shop |
        | git status --porcelain         |                       |

  Rule: what cannot be moved safely is refused

    Scenario Outline: <what>
      Given a plan that ran `echo new > new.txt` after the user ran `true`
      And the user has since run `<command>`
      When the user applies the plan
      Then the exit code is <code>
      And the error's code is <error>
      And the project is as it was

      Examples:
        | what                      | code | error          | command                                              |
        | A merge in progress       | 4    | target_refused | leave a merge in progress                            |
        | A rebase in progress      | 4    | target_refused | mkdir .git/rebase-merge                              |
        | A cherry-pick in progress | 4    | target_refused | mkdir .git/sequencer                                 |
        | Files elsewhere           | 4    | target_refused | mkdir ../other; git config core.worktree ../../other |
        | A sparse checkout         | 4    | target_refused | git sparse-checkout set --no-cone /README.md         |
        | A submodule               | 4    | target_refused | git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm sub |
        | Another git at work       | 6    | target_changed | touch .git/index.lock                                |

    Scenario: One that git takes for bare
      Given a plan that ran `echo new > new.txt` after the user ran `true`
      And the user has since run `git config core.bare true`
      When the user runs `agents plan apply PLAN --yes` for it
      Then the error's code is target_refused

    Scenario: A repository inside the result
      Given a plan that ran `git init -q inner; echo 1 > inner/x` after the user ran `true`
      When the user applies the plan
      Then the error's code is target_refused
      And the project is as it was

    Scenario Outline: A branch that cannot be made
      Given a plan that ran `echo new > new.txt` after the user ran `true`
      When the user applies the plan with `--branch <name>`
      Then the exit code is <code>
      And the project is as it was

      Examples:
        | name            | code |
        | main            | 4    |
        | main/below      | 4    |
        | @{-1}           | 2    |
        | HEAD            | 2    |
        | -x              | 2    |
        | a..b            | 2    |
        | new --no-commit | 2    |

    Scenario: The branch that is checked out and has no commit yet
      Given a plan on a project without commits that ran `echo new > new.txt`
      When the user applies the plan with `--branch main`
      Then the error's code is target_refused
      And the project is as it was

  Rule: bytes are the plan's, and a commit holds what the project's attributes say

    Scenario Outline: Line ends with <attributes>
      Given a plan that ran `printf 'a\r\nb\r\n' > new.txt; sed -i s/19/last/ list.txt` after the user ran `<attributes>; git add .; git commit -q --allow-empty -m eol; git rm -rq --cached .; git reset -q --hard`
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                                   | expected  |
        | git status --porcelain                    |           |
        | git show HEAD:new.txt \| od -An -c \| tr -d ' ' | <stored> |

      Examples:
        | attributes                                     | stored        |
        | echo '* text=auto' > .gitattributes            | a\nb\n        |
        | echo '* text=auto eol=crlf' > .gitattributes   | a\nb\n        |
        | git config core.autocrlf true                  | a\nb\n        |
        | echo '* -text' > .gitattributes                | a\r\nb\r\n    |
        | echo '* text eol=crlf' > .git/info/attributes  | a\nb\n        |

    Scenario Outline: What no commit shows: <what>
      Given a plan that ran `<plan>` after the user ran `echo '* text=auto' > .gitattributes`
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                     | expected |
        | git log --format=%s -1      | list     |

      Examples:
        | what            | plan                                   |
        | line ends       | sed -i 's/$/\r/' list.txt             |
        | permission bits | chmod 640 README.md; chmod 750 src     |

    Scenario: Links and programs
      Given a plan that ran `ln -sfn list.txt link; chmod +x README.md; rm run.sh; ln -s link run.sh` after the user ran `ln -s run.sh link`
      When the user applies the plan
      Then the project's files are those of the sandbox
      And git says in the project
        | command                | expected |
        | git status --porcelain |          |

    Scenario: Nothing of the project runs
      Given a plan that ran `echo more >> README.md` after the user ran `echo '* filter=trap merge=trap diff=trap' > .gitattributes`
      And the project is full of traps that would make the file `sprung`
      And the user has since run `commit a change of README.md without filters and hooks`
      When the user applies the plan
      Then there is no file `sprung` outside
