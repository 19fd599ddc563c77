Feature: Private views of a project
  `agents run` shows a command the project at its own path. What the command changes is seen by
  nobody else until it is applied.

  Rule: The user's files stay as they are, and every checkpoint is restored exactly

    Scenario Outline: A session in a private view of a project of the kind <kind> is rolled back
      Given a project of the kind `<kind>`
      And a session in a private view has run `changes of every kind`
      When the view is rolled back to the start
      Then the view shows the project as it was
      And the files of the project are as before
      And nothing in its git was touched
      And the session is `execute/complete`, with the exit code `0`

      Examples:
        | kind            |
        | git             |
        | plain directory |
        | submodule       |
        | LFS             |
        | SHA-256         |
        | sparse checkout |
        | no commits      |
        | detached HEAD   |

    Scenario Outline: <what> in a private view
      Given a project of the kind `git`
      And the project has hard links, a large directory and the ignored file `.env`
      And a session in a private view has run `<work>`
      And the view is remembered
      And the view was rolled back to the start
      And the view shows the project as it was
      When the user undoes that
      Then the view is as remembered

      Examples:
        | what                                      | work                                                              |
        | A file is removed                         | rm a.txt                                                          |
        | A directory is removed                    | rm -r many                                                        |
        | A directory is removed and made again     | rm -r many; mkdir many; echo new > many/f1                        |
        | A directory becomes a file                | rm -r many; echo file > many                                      |
        | A file becomes a directory                | rm a.txt; mkdir a.txt; echo in > a.txt/in                         |
        | A link becomes a directory                | rm link; mkdir link; echo in > link/in                            |
        | A directory is moved                      | mv many moved                                                     |
        | A new directory is moved                  | mkdir -p n/d; echo 1 > n/d/f; mv n m; echo 2 > m/d/f              |
        | A directory is moved over a removed one   | mkdir new; echo 1 > new/f1; rm -r many; mv new many               |
        | Only a mode changes                       | chmod 600 a.txt                                                   |
        | Only the mode of a directory changes      | chmod 700 many                                                    |
        | The mode of the project itself changes    | chmod 700 .                                                       |
        | A file is written and is the same again   | cp a.txt b; echo x > a.txt; cat b > a.txt; rm b; echo 1 > other   |
        | A file is only touched                    | touch a.txt; echo 1 > other                                       |
        | One name of a hard link is written        | echo through-one >> hard1                                         |
        | A hard link is made                       | ln a.txt hard3; echo more >> hard3                                |
        | A file is cut short and grows             | : > many/f1; echo longer than before >> many/f2                   |
        | An ignored file changes                   | echo changed > .env                                               |
        | An ignored file is removed                | rm .env                                                           |
        | What is ignored changes                   | echo a.txt > .gitignore; rm a.txt; echo n > .env2                 |
        | Names that are odd                        | echo 1 > "$(printf 'a\\nb')"; mkdir "$(printf '\\351')"           |
        | An empty directory comes, another goes    | mkdir -p e/e/e; rmdir empty                                       |

  Rule: The git of a view is the session's own

    Scenario Outline: <what> in the git of a private view
      Given a project of the kind `git`
      And a session in a private view has run `<work>`
      And the view is remembered
      And the view was rolled back to the start
      And the git of the view is whole and says what the project's says
      When the user undoes that
      Then the view is as remembered
      And nothing in its git was touched

      Examples:
        | what                       | work                                                                               |
        | A commit                   | git commit -qam agent                                                              |
        | A branch and a tag         | git checkout -qb other; git commit -qam agent; git tag -am t t                     |
        | A stash                    | git stash -q                                                                       |
        | A staged file              | echo s > s; git add s                                                              |
        | A setting and a hook       | git config a.b c; echo '#!/bin/sh' > .git/hooks/pre-commit                         |
        | A collection               | git commit -qam agent; git gc -q --prune=now                                       |
        | A lost commit              | git commit -qam a; git reset -q --hard HEAD~; git reflog expire --expire=now --all; git gc -q --prune=now |
        | A git that was removed     | rm -rf .git                                                                        |
        | A git that was made anew   | rm -rf .git; git init -q .; git add .; git commit -qm new                          |
        | A repository inside        | git init -q in; cd in; echo 1 > f; git add f; git commit -qm in                    |

    Scenario: A commit that was lost again is restored from the checkpoint that has it
      Given a project of the kind `git`
      And a session in a private view has run `git commit -qam agent`
      And the view is remembered
      And somebody in the view runs `git reset -q --hard HEAD~; git reflog expire --expire=now --all; git gc -q --prune=now`
      When the view is rolled back to `@latest`
      Then the view is as remembered
      And the git of the view is whole

  Rule: What the user changes meanwhile is the user's

    Scenario: A rollback leaves alone what only the user changed
      Given a project of the kind `git`
      And a session in a private view has run `echo agent > a.txt`
      And the user has run `echo mine > run.sh; rm -r src; echo new > mine.txt`
      When the view is rolled back to the start
      Then `cat run.sh mine.txt a.txt | paste -sd+` in the project prints `mine+new+one+not committed`
      And it left alone what was changed outside: `mine.txt, run.sh, src/`

  Rule: One command after another uses the view

    Scenario: The home directory that the first session makes is private
      Given a project of the kind `git`
      When a session in a private view runs `ls > /dev/null`
      Then nobody else can look into the home directory

    Scenario: The session leaves no layer if nothing was changed
      Given a project of the kind `git`
      When a session in a private view runs `ls > /dev/null`
      Then the exit code is 0
      And no sandbox is left
      And the output of "agents doctor" says "none of them missing"

    Scenario Outline: `agents <command>` lists the work that is neither applied nor discarded
      Given a project of the kind `git`
      And a session in a private view has run `head -c 100000 /dev/zero > large`
      When the user runs "agents <command> --format json"
      Then the exit code is 0
      And `<place>` has the layer of the session, with more than 100000 bytes

      Examples:
        | command        | place       |
        | gc             | layers      |
        | gc --dry-run   | layers      |
        | doctor --quick | disk.layers |

    Scenario Outline: `agents <command>` fits a screen when it lists layers
      Given a project of the kind `git`
      And a session in a private view has run `head -c 100000 /dev/zero > large`
      When the user types "agents <command>" at a terminal and is not asked
      Then the screen says "Work of private views not applied"
      And no line of the screen has more than 80 columns

      Examples:
        | command        |
        | gc             |
        | doctor --quick |

    Scenario Outline: `agents <command>` lists no layer of a session that changed nothing
      Given a project of the kind `git`
      And a session in a private view has run `ls > /dev/null`
      When the user runs "agents <command>"
      Then the exit code is 0
      And the output does not say "Work of private views"

      Examples:
        | command        |
        | gc             |
        | doctor --quick |

    Scenario: The result of a private view is applied
      Given a project of the kind `git`
      And a session in a private view has run `changes of every kind`
      When the user runs "agents apply --yes"
      Then the exit code is 0
      And `cat a.txt new/n | paste -sd+` in the project prints `two+n`
      And no sandbox is left

    Scenario: A session that is not wanted is discarded
      Given a project of the kind `git`
      And a session in a private view has run `changes of every kind`
      When the user runs "agents plan cancel @latest --discard --yes"
      Then the exit code is 0
      And the files of the project are as before
      And no sandbox is left

    Scenario: The command has its own tmux and asks no file system monitor
      Given a project of the kind `git`
      When a session in a private view runs `git config core.fsmonitor; echo $TMUX_TMPDIR; pwd`
      Then the exit code is 0
      And the output says "false"
      And the output says the path of the project

  Rule: Every promise of snapshot stores holds for private views

    Scenario Outline: All of them, as <user>
      When the promises of snapshot stores are proved on private views, as <user>
      Then none is broken

      Examples:
        | user                          |
        | root                          |
        | a user without any privileges |
