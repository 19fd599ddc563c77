Feature: Repository content is data, never code
  git can be configured to run programs. None of them runs because of us, whoever configured it:
  in these scenarios each would leave a mark, and many would fail or hang.

  Rule: What the project configures does not run

    Scenario Outline: <program>
      Given a project in which the user has configured: <program>
      When a plan works on it, is compared and goes back
      Then everything worked, and no configured program ran

      Examples: Hooks
        | program                        |
        | Hooks that fail                |
        | Hooks that hang                |
        | A directory of hooks           |

      Examples: Programs for files
        | program                        |
        | A monitor of files             |
        | Filters                        |
        | Filters that are required      |
        | A filter that stays            |
        | A filter with an odd name      |
        | Conversion for diffs           |
        | A program for diffs            |
        | A program for merges           |

      Examples: Programs for git itself
        | program                        |
        | Signing                        |
        | Pager, editor and questions    |
        | The network                    |
        | Aliases                        |
        | A file that is included        |
        | A work tree elsewhere          |
        | Housekeeping                   |
        | Replaced objects               |

  Rule: What the user configures does not run

    Scenario Outline: In the user's own configuration: <line>
      Given a project of a user whose configuration says `<line>`
      When a plan works on it, is compared and goes back
      Then everything worked, and no configured program ran

      Examples:
        | line                                             |
        | [core] hooksPath = HOOKS                         |
        | [core] fsmonitor = PROGRAM                          |
        | [core] attributesFile = ATTRIBUTES               |
        | [commit] gpgSign = true                          |
        | [diff] external = PROGRAM                           |
        | [init] templateDir = TEMPLATE                    |
        | [init] defaultObjectFormat = sha256              |
        | [extensions] objectFormat = sha256               |
        | [core] pager = PROGRAM                              |
        | [safe] directory = /nowhere                      |
        | [core] bare = true                               |
        | [transfer] fsckObjects = true                    |
        | [[[ this is not a configuration                  |

    Scenario Outline: In the user's environment: <variable>
      Given a project of a user whose environment has `<variable>`
      When a plan works on it, is compared and goes back
      Then everything worked, and no configured program ran

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
        | GIT_CONFIG_PARAMETERS='core.fsmonitor'='PROGRAM'    |
        | GIT_CONFIG=/nowhere                              |
        | GIT_TRACE=MARK                                   |
        | GIT_TRACE2=MARK                                  |
        | GIT_TRACE2_EVENT=MARK                            |
        | GIT_TRACE_PACKET=MARK                            |
        | GIT_EXTERNAL_DIFF=PROGRAM                           |
        | GIT_PAGER=PROGRAM                                   |
        | GIT_EDITOR=PROGRAM                                  |
        | GIT_ASKPASS=PROGRAM                                 |
        | GIT_SSH_COMMAND=PROGRAM                             |
        | GIT_EXEC_PATH=/nowhere                           |
        | GIT_TEMPLATE_DIR=TEMPLATE                        |
        | GIT_DEFAULT_HASH=sha256                          |
        | GIT_GLOB_PATHSPECS=1                             |
        | GIT_SHALLOW_FILE=/nowhere                        |
        | GIT_REPLACE_REF_BASE=refs/heads                  |
        | LANGUAGE=de                                      |
        | LC_ALL=de_DE.UTF-8                               |

  Rule: What an agent configures in the mirror does not run, and does not stop anything

    Scenario Outline: <program>
      Given a sandbox whose agent has configured: <program>
      When its plan continues, and then another plan works on the project
      Then everything worked, and no configured program ran

      Examples:
        | program                        |
        | Hooks                          |
        | A directory of hooks           |
        | A monitor of files             |
        | Filters                        |
        | Attributes in the mirror       |
        | Settings of the worktree       |
        | A file that is included        |
        | A configuration that is broken |
        | A repository from the future   |
        | A work tree elsewhere          |
        | Other rules for exclusion      |
        | No HEAD in the mirror          |
        | Replaced objects               |
        | A FIFO for the configuration   |
