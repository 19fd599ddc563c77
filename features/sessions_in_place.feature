Feature: Sessions in place
  `agents run -i` runs a program that is not ours on the user's own files. Its work is a plan of the
  kind `session`, with checkpoints, rollback, undo and diff.

  Rule: In place, the command works on the user's own files, and they can be restored exactly

    Scenario Outline: A session in a project of the kind <kind> is rolled back
      Given a project of the kind `<kind>`
      And a session `-i` has run `changes of every kind`
      And the files of the project have changed
      When the project is rolled back to the start
      Then the files of the project are as before
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

    Scenario: A rollback of a session is undone
      Given a project of the kind `git`
      And a session `-i` has run `changes of every kind`
      And the project was rolled back to the start
      When the user runs "agents undo --yes"
      Then the files of the project have changed
      And the session is `execute/complete`, with the exit code `0`

    Scenario Outline: <what> in a session
      Given a project of the kind `git`
      And the variable CLEVERAGENTS_SESSION_IGNORED_MAX_SIZE is "20"
      And the project has the ignored files `small.log`, `large.log` and `build.log/o`
      And a session `-i` has run `<work>`
      When the project is rolled back to the start
      Then `<look>` in the project prints `<result>`

      Examples:
        | what                                          | work                               | look                       | result  |
        | A small ignored file is restored              | echo changed > small.log           | cat small.log              | small   |
        | An ignored file in a directory is restored    | rm -r build.log                    | cat build.log/o            | o       |
        | A new ignored file is removed                 | echo new > new.log                 | echo *.log                 | build.log large.log small.log tracked.log |
        | A large ignored file stays as it is           | echo changed > large.log           | cat large.log              | changed |
        | A directory that a tool makes stays as it is  | echo changed > node_modules/m      | cat node_modules/m         | changed |
        | A tracked file is restored though ignored     | echo changed > tracked.log         | cat tracked.log            | kept    |
        | A file that is ignored since then is restored | echo a.txt > .gitignore; rm a.txt  | head -1 a.txt              | one     |
        | What is no longer ignored stays as it is      | rm .gitignore; echo c > large.log  | cat large.log              | c       |

    Scenario: A rollback leaves the commits that were made since, and says which
      Given a project of the kind `git`
      And a session `-i` has run `git -c user.name=A -c user.email=a@b commit -qam made-by-agent`
      When the project is rolled back to the start
      Then the rollback names 1 commit that it kept
      And `git log -1 --format=%s` in the project prints `made-by-agent`
      And the output says "stay as they are, with 1 commit made since"

    Scenario: A git directory that the command makes is named, and stays
      Given a project of the kind `plain directory`
      And a session `-i` has run `git init -q .; echo two > a.txt`
      When the project is rolled back to the start
      Then the files of the project are as before
      And `git rev-parse --is-inside-work-tree` in the project prints `true`

    Scenario: A session survives that its command destroys the repository
      Given a project of the kind `git`
      And a session `-i` has run `rm -rf .git a.txt`
      When the project is rolled back to the start
      Then the files of the project are as before

    Scenario: The question says that the user's own files will change
      Given a project of the kind `git`
      And the user sits before a terminal
      And a session `-i` has run `echo two > a.txt`
      When the user answers "n" to "agents rollback @first"
      Then the error output says "This changes your own files in"
      And the files of the project have changed

    Scenario: There is nothing to apply
      Given a project of the kind `git`
      And a session `-i` has run `echo two > a.txt`
      When the user runs "agents apply --yes"
      Then the exit code is 4
      And the error output says "the work is already in the project"

    Scenario Outline: `<command>` never removes the project
      Given a project of the kind `git`
      And the variable CLEVERAGENTS_SANDBOX_CLEANUP is "on_terminal"
      And a session `-i` has run `echo two > a.txt`
      When somebody tries to get rid of its sandbox by `<command>`
      Then the exit code is <code>
      And the files of the project are as they were then
      And the project can still be rolled back to the start

      Examples:
        | command                                   | code |
        | agents plan cancel @latest                | 0    |
        | agents plan cancel @latest --discard --yes | 0   |
        | agents gc                                 | 0    |
        | agents doctor --fix                       | 0    |
        | agents apply --yes                        | 4    |

    Scenario: Nothing is discarded, so nothing is asked
      Given a project of the kind `git`
      And a session `-i` has run `echo two > a.txt`
      When the user runs "agents plan cancel @latest --discard"
      Then the exit code is 0
      And the error output does not mention the sandbox

    Scenario: A project that has moved is missing, and is not made again
      Given a project of the kind `git`
      And a session `-i` has run `echo two > a.txt`
      And the project was moved away
      When the user runs "agents plan rollback @latest @first --yes" elsewhere
      Then the exit code is 4
      And the project was not made again
