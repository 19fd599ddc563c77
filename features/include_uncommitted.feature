Feature: Starting from the project's files as they are
  With `--include-uncommitted` a plan starts from what is on the disk: changed, new and deleted
  files, their bytes and permission bits. To git in the sandbox the user's changes stay what they
  are, not committed. The project is not touched, not even its index.

  Rule: the sandbox holds what the project holds

    Scenario Outline: <situation>
      Given a project in which the user has run `<command>`
      When a plan starts from the files as they are
      Then the sandbox holds them all, but not <left out>
      And HEAD, branch and index of the sandbox are those of the last commit
      And the project is as it was, to the byte and the time

      Examples: Work of all kinds
        | situation                     | command                                                         | left out |
        | Nothing has changed           | true                                                            | anything |
        | Changed, staged and new files | echo 2 >> README.md; echo 3 > staged; git add staged; echo 4 > staged; mkdir -p d/e; echo 5 > d/e/new | anything |
        | Deleted files                 | rm README.md; git rm -q run.sh                                  | anything |
        | Deleted for git only          | git rm -q --cached README.md                                    | anything |
        | All files are gone            | git rm -rq .                                                    | anything |
        | Staged and then deleted       | echo 1 > a; git add a; rm a                                     | anything |
        | Only meant to be added        | echo 1 > a; git add -N a                                        | anything |
        | A merge is in progress        | leave a merge in progress                                       | anything |
        | HEAD is detached              | git checkout -q --detach; echo 2 > README.md                    | anything |
        | There is no commit            | rm -rf .git; git init -q; git add README.md; echo 2 > README.md | anything |
        | There is no index             | rm .git/index                                                   | anything |

      Examples: The disk counts, not what the index says
        | situation                  | command                                                           | left out |
        | Assumed to be unchanged    | git update-index --assume-unchanged README.md; echo 2 > README.md | anything |
        | Not to be in the work tree | git update-index --skip-worktree README.md run.sh; rm README.md; echo 2 > run.sh | anything |
        | The index is split         | git update-index --split-index; echo 1 > a; git add a; echo 2 > b | anything |
        | Another git has locked it  | touch .git/index.lock; echo 2 > README.md                         | anything |
        | Line ending rules          | git config core.autocrlf true; echo '* text=auto' > .gitattributes; printf 'a\r\nb\n' > mixed | anything |
        | The same size and time     | rewrite README.md with its old size and time                      | anything |

      Examples: Anything a directory can hold
        | situation                   | command                                                          | left out |
        | Permission bits             | chmod 600 README.md; chmod 4755 run.sh; mkdir -m 750 d; echo 1 > d/a; chmod 400 d/a; chmod 555 d | anything |
        | Links                       | ln -s README.md a; ln -s /nowhere b; rm run.sh; ln -s src run.sh | anything |
        | A directory became a link   | mv src there; ln -s there src                                    | anything |
        | A link became a file        | ln -s README.md a; git add a; git commit -qm a; rm a; echo 1 > a; ln -sf run.sh README.md | anything |
        | A link points elsewhere now | ln -s README.md a; git add a; git commit -qm a; ln -sf run.sh a  | anything |
        | A file became a directory   | rm README.md; mkdir README.md; echo 1 > README.md/a              | anything |
        | A directory became a file   | rm -r src; echo 1 > src                                          | anything |
        | Empty directories           | mkdir -p empty/deep; rm src/main.py                              | anything |
        | Names with any byte         | make files and directories with odd names                        | anything |
        | Bytes of any kind           | head -c 3000000 /dev/urandom > big; : > nothing; printf '\0' > zero; truncate -s 5M hole | anything |

      Examples: What is ignored stays behind
        | situation                  | command                                       | left out        |
        | By rules of the project    | echo '*.log' > .gitignore; echo 'out/' >> .gitignore; echo 1 > a.log; mkdir out; echo 1 > out/a | a.log out out/a |
        | By rules of the repository | echo 'x*' > .git/info/exclude; echo 1 > x1; mkdir xd; echo 1 > xd/a | x1 xd xd/a      |
        | By rules of the user       | mkdir -p $HOME/.config/git; echo '*.tmp' > $HOME/.config/git/ignore; echo 1 > a.tmp | a.tmp           |
        | Except what git tracks     | ignore files that git tracks, and change them | b.log out/b     |
        | A repository among them    | git init -q sub; echo sub > .gitignore        | sub sub/*       |

    Scenario Outline: <kind> cannot be copied, and that is said
      Given a project in which the user has run `<command>`
      When a plan starts from the files as they are
      Then the sandbox holds them all, but not <left out>
      And it is warned that "<warning>"

      Examples:
        | kind               | command                        | left out  | warning |
        | A named pipe       | mkfifo pipe                    | pipe      | `pipe` is not in the sandbox of `project`: special file: fifo |
        | What became a pipe | rm README.md; mkfifo README.md | README.md | `README.md` is not in the sandbox of `project`: special file: fifo |

    Scenario: CleverAgents does not copy itself
      Given a project that holds the home directory of CleverAgents
      When a plan starts from the files as they are
      Then the sandbox holds them all, but not home home/*
      And it is warned that "`home` is not in the sandbox of `project`: CleverAgents keeps its own there"

  Rule: what cannot be taken whole is refused

    Scenario Outline: <situation>
      Given a project in which the user has run `<command>`
      When an ordinary user's plan starts from the files as they are
      Then it is refused whole, because <reason>

      Examples:
        | situation                  | command                         | reason                             |
        | A file cannot be read      | echo 1 > secret; chmod 0 secret | `secret` in it cannot be read      |
        | A directory cannot be read | mkdir d; chmod 0 d              | `d` in it cannot be read           |
        | Another repository         | git init -q sub                 | it has another repository at `sub` |
        | A tracked one              | mkdir sub; echo 1 > sub/a; git add sub; git init -q sub | it has another repository at `sub` |
        | The index is damaged       | echo damaged > .git/index       | git cannot tell which files it has |

    Scenario Outline: The project changes <count> times while it is copied
      Given a project that changes <count> times while it is copied
      When a plan starts from the files as they are
      Then <outcome>

      Examples:
        | count | outcome                                                        |
        | 1     | the sandbox holds them all, but not anything                   |
        | 4     | the sandbox holds them all, but not anything                   |
        | 9     | it is refused whole, because its files change faster than they can be copied |

    Scenario Outline: A file becomes <something> just before it is copied
      Given a project in which README.md becomes <something> just before it is copied
      When a plan starts from the files as they are
      Then the sandbox holds them all, but not <left out>

      Examples:
        | something    | left out |
        | nothing      | anything |
        | a link       | anything |
        | a directory  | anything |
        | a named pipe | README.md |

  Rule: the wish is the plan's

    Scenario: A plan that was made starts from the files at the time it is executed
      Given a project in which the user has run `echo 2 > README.md`
      And a plan has been made that starts from the files as they are
      And the user has written README.md again
      When the plan is executed
      Then the sandbox holds them all, but not anything
      And the plan says that it includes what is not committed

    Scenario: A process killed while it copies leaves nothing half
      Given a project in which the user has run `echo 2 > README.md; rm run.sh; mkdir -p a/b; echo 1 > a/b/c`
      And a plan was killed when it had copied README.md
      When the plan is executed
      Then the sandbox holds them all, but not anything
      And HEAD, branch and index of the sandbox are those of the last commit
      And the project is as it was, to the byte and the time

    Scenario: Without the option a plan starts from the last commit
      Given a project in which the user has run `echo 2 > README.md; echo 1 > new`
      When a plan starts from the last commit
      Then the sandbox holds just what the last commit holds
      And the plan says that it leaves out what is not committed

    Scenario: A rollback goes back to the files as they were
      Given a project in which the user has run `echo 2 > README.md; rm run.sh; echo 1 > new`
      When a plan that starts from them ruins them and is rolled back
      Then the sandbox holds them all, but not anything
      And the project is as it was, to the byte and the time
