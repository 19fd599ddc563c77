@disk
Feature: The user's project is not touched before apply
  Not its files, index, branches, stash, configuration, hooks or object store. These scenarios compare
  every byte, mode and modification time in the project's directory, `.git` included.

  Rule: Whatever state the project is in

    Scenario Outline: <state>
      Given a project in which the user has run `<command>`
      When a plan that runs `echo 1 > new; rm -f README.md; mkdir -p d` is made, run, compared and rolled back
      Then every byte, mode and time in the project is what it was
      And git finds nothing wrong with the mirror

      Examples:
        | state                     | command                                                                     |
        | Nothing is going on       | true                                                                        |
        | Work of all kinds         | leave uncommitted work of all kinds                                         |
        | Everything is staged      | git rm -q README.md; echo 1 > a; git add -A                                 |
        | Work is stashed           | echo 2 > README.md; git stash -q                                            |
        | The repository is packed  | git gc -q; git pack-refs --all                                              |
        | Loose and packed objects  | git gc -q; echo 2 > a; git add a; git commit -qm 2; git branch x; git tag -a -m t t |
        | A merge is in progress    | leave a merge in progress                                                   |
        | Another git has locked it | touch .git/index.lock .git/HEAD.lock .git/config.lock .git/packed-refs.lock |
        | HEAD is detached          | git checkout -q --detach                                                    |
        | There is no commit        | rm -rf .git; git init -q                                                    |
        | The index is split        | git update-index --split-index; git update-index --untracked-cache          |
        | Times are old             | find . -exec touch -h -d @1000000000 {} +                                   |

  Rule: Whatever the agent does with git in its sandbox

    Scenario Outline: The agent <act>
      Given a project in which the user has run `git branch x; git tag t; echo 2 > README.md; git stash -q; echo 3 > README.md`
      When a plan that runs `<command>` is made, run, compared and rolled back
      Then every byte and mode in the project is what it was
      And git finds nothing wrong with the mirror

      Examples:
        | act                       | command                                                                                                |
        | commits                   | echo 1 > a; git add -A; $GIT commit -qm 1                                                              |
        | prunes                    | git reflog expire --expire=now --all; git gc -q --prune=now                                            |
        | repacks                   | git repack -adfq; git prune-packed; git pack-refs --all                                                |
        | deletes branches and tags | git branch -r -d origin/x origin/main \|\| true; git tag -d t \|\| true                                |
        | moves branches            | move branches by name and by ref                                                                       |
        | stashes                   | echo 1 > README.md; $GIT stash -q; git stash drop -q                                                   |
        | configures                | git config user.name Agent; git config core.hooksPath /nowhere; git config --add remote.x.url /nowhere |
        | makes hooks               | d=$(git rev-parse --git-common-dir)/hooks; mkdir -p $d; echo '#!/bin/sh' > $d/pre-commit               |
        | pushes and fetches        | git push -q . HEAD:refs/heads/pushed; git fetch -q . HEAD                                              |
        | starts again              | rm -rf .git; git init -q; git add -A; $GIT commit -qm mine                                             |
        | removes everything        | rm -rf .git ./* .[a-z]*                                                                                |
        | looks for the project     | test -z "$(git remote -v)"; ! git config --get-regexp 'remote\..*url'                                  |
