Feature: Repository content is data, never code
  git can be configured to run programs. None of them runs because of us, whoever configured it:
  in these scenarios each would leave a mark, and many would fail or hang.

  Rule: What the project configures does not run

    Scenario Outline: <trap>
      Given a project in which the user has set the trap `<command>`
      When a plan works on it, is compared and goes back
      Then everything worked, and no trap was sprung

      Examples: Hooks
        | trap                           | command                                                                          |
        | Hooks that fail                | for h in post-checkout post-index-change reference-transaction pre-commit commit-msg post-commit pre-auto-gc post-rewrite fsmonitor-watchman; do cp $TRAP .git/hooks/$h; done |
        | Hooks that hang                | printf '#!/bin/sh\ntouch %s\nsleep 600\n' $MARK > h; chmod +x h; for h in post-checkout post-index-change reference-transaction; do cp h .git/hooks/$h; done; rm h |
        | A directory of hooks           | mkdir hooks; for h in post-checkout post-index-change reference-transaction; do cp $TRAP hooks/$h; done; git config core.hooksPath $PWD/hooks |

      Examples: Programs for files
        | trap                           | command                                                                          |
        | A monitor of files             | git config core.fsmonitor $TRAP                                                  |
        | Filters                        | $ALL filter=x; git config filter.x.clean $TRAP; git config filter.x.smudge $TRAP |
        | Filters that are required      | $ALL filter=x; git config filter.x.clean $TRAP; git config filter.x.smudge $TRAP; git config filter.x.required true |
        | A filter that stays            | $ALL filter=x; git config filter.x.process $TRAP; git config filter.x.required true |
        | A filter with an odd name      | $ALL filter=x.y; git config filter.x.y.smudge $TRAP; git config filter.x.y.required true |
        | Conversion for diffs           | $ALL diff=x; git config diff.x.textconv $TRAP; git config diff.x.cachetextconv true |
        | A program for diffs            | $ALL diff=x; git config diff.x.command $TRAP; git config diff.external $TRAP     |
        | A program for merges           | $ALL merge=x; git config merge.x.driver $TRAP; git config merge.default x        |

      Examples: Programs for git itself
        | trap                           | command                                                                          |
        | Signing                        | git config commit.gpgSign true; git config tag.gpgSign true; git config gpg.program $TRAP; git config log.showSignature true |
        | Pager, editor and questions    | git config core.pager $TRAP; git config pager.diff $TRAP; git config core.editor $TRAP; git config core.askPass $TRAP; git config credential.helper $TRAP |
        | The network                    | git config core.sshCommand $TRAP; git config core.gitProxy $TRAP; git config core.alternateRefsCommand $TRAP; git remote add origin ssh://localhost/x |
        | Aliases                        | for c in diff config update-ref ls-files cat-file reset; do git config alias.$c "!$TRAP"; done |
        | A file that is included        | printf '[core]\nfsmonitor = %s\nhooksPath = /nowhere\n' $TRAP > .git/more; git config include.path more |
        | A work tree elsewhere          | git config core.worktree $OUTSIDE                                                |
        | Housekeeping                   | git config gc.auto 1; git config gc.autoDetach false; git config maintenance.auto true; cp $TRAP .git/hooks/pre-auto-gc |
        | Replaced objects               | git replace $(git rev-parse HEAD:README.md) $(echo other \| git hash-object -w --stdin) |

  Rule: What the user configures does not run

    Scenario Outline: In the user's own configuration: <line>
      Given a project of a user whose configuration says `<line>`
      When a plan works on it, is compared and goes back
      Then everything worked, and no trap was sprung

      Examples:
        | line                                             |
        | [core] hooksPath = HOOKS                         |
        | [core] fsmonitor = TRAP                          |
        | [core] attributesFile = ATTRIBUTES               |
        | [commit] gpgSign = true                          |
        | [diff] external = TRAP                           |
        | [init] templateDir = TEMPLATE                    |
        | [init] defaultObjectFormat = sha256              |
        | [extensions] objectFormat = sha256               |
        | [core] pager = TRAP                              |
        | [safe] directory = /nowhere                      |
        | [core] bare = true                               |
        | [transfer] fsckObjects = true                    |
        | [[[ this is not a configuration                  |

    Scenario Outline: In the user's environment: <variable>
      Given a project of a user whose environment has `<variable>`
      When a plan works on it, is compared and goes back
      Then everything worked, and no trap was sprung

      Examples:
        | variable                                         |
        | GIT_DIR=/nowhere                                 |
        | GIT_WORK_TREE=OUTSIDE                            |
        | GIT_INDEX_FILE=MARK                              |
        | GIT_OBJECT_DIRECTORY=OUTSIDE                     |
        | GIT_COMMON_DIR=/nowhere                          |
        | GIT_ALTERNATE_OBJECT_DIRECTORIES=/nowhere        |
        | GIT_NAMESPACE=elsewhere                          |
        | GIT_CEILING_DIRECTORIES=/                        |
        | GIT_CONFIG_COUNT=many                            |
        | GIT_CONFIG_PARAMETERS='core.fsmonitor'='TRAP'    |
        | GIT_CONFIG=/nowhere                              |
        | GIT_TRACE=MARK                                   |
        | GIT_TRACE2=MARK                                  |
        | GIT_TRACE2_EVENT=MARK                            |
        | GIT_TRACE_PACKET=MARK                            |
        | GIT_EXTERNAL_DIFF=TRAP                           |
        | GIT_PAGER=TRAP                                   |
        | GIT_EDITOR=TRAP                                  |
        | GIT_ASKPASS=TRAP                                 |
        | GIT_SSH_COMMAND=TRAP                             |
        | GIT_EXEC_PATH=/nowhere                           |
        | GIT_TEMPLATE_DIR=TEMPLATE                        |
        | GIT_DEFAULT_HASH=sha256                          |
        | GIT_GLOB_PATHSPECS=1                             |
        | GIT_SHALLOW_FILE=/nowhere                        |
        | GIT_REPLACE_REF_BASE=refs/heads                  |
        | LANGUAGE=de                                      |
        | LC_ALL=de_DE.UTF-8                               |

  Rule: What an agent configures in the mirror does not run, and does not stop anything

    Scenario Outline: <trap>
      Given a sandbox whose agent has set the trap `<command>`
      When its plan goes on, and then another plan works on the project
      Then everything worked, and no trap was sprung

      Examples:
        | trap                           | command                                                                          |
        | Hooks                          | mkdir -p $COMMON/hooks; for h in post-checkout post-index-change reference-transaction; do cp $TRAP $COMMON/hooks/$h; done |
        | A directory of hooks           | git config core.hooksPath $HOOKS                                                 |
        | A monitor of files             | git config core.fsmonitor $TRAP                                                  |
        | Filters                        | echo '* filter=x diff=x' > .gitattributes; for k in clean smudge process; do git config filter.x.$k $TRAP; done; git config filter.x.required true |
        | Attributes in the mirror       | mkdir -p $COMMON/info; echo '* filter=x diff=x' > $COMMON/info/attributes; git config filter.x.smudge $TRAP; git config diff.x.textconv $TRAP |
        | Settings of the worktree       | git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $TRAP; git config --worktree core.bare true |
        | A file that is included        | mkfifo $OUTSIDE/fifo; git config include.path $OUTSIDE/fifo                      |
        | A configuration that is broken | echo '[[[' > $COMMON/config                                                      |
        | A repository from the future   | git config core.repositoryFormatVersion 99                                       |
        | A work tree elsewhere          | git config core.worktree $OUTSIDE                                                |
        | Other rules for exclusion      | mkdir -p $COMMON/info; echo '*' > $COMMON/info/exclude; git config core.excludesFile $COMMON/info/exclude |
        | No HEAD in the mirror          | rm $COMMON/HEAD                                                                  |
        | Replaced objects               | git replace $(git rev-parse HEAD:README.md) $(echo other \| git hash-object -w --stdin) |
        | A FIFO for the configuration   | rm $COMMON/config; mkfifo $COMMON/config                                         |
