Feature: Applying several resources, all or none
  A repository, a directory and a database get the result of a plan together, or none of them does.

  Background:
    Given a plan with a decision that has changed a repository, a directory and a database

  Rule: all of them get the result

    Scenario: A repository, a directory and a database
      When the user applies the plan
      Then the exit code is 0
      And the directory and the database are those of the sandboxes
      And git says in the project
        | command                | expected              |
        | git log -1 --format=%s | Apply plan local/shop |
        | git status --porcelain |                       |

    Scenario: The user has done the same
      Given the user has since run `printf 'b\n1\n2\n4\n' > ../files/b.txt`
      When the user applies the plan
      Then the exit code is 0
      And the directory and the database are those of the sandboxes

    Scenario: What the plan did not change may have changed
      Given the user has since run `echo mine > ../files/mine.txt; chmod 600 ../app.db ../files/b.txt`
      When the user applies the plan
      Then the exit code is 0
      And the others' own words are
        | command                             | expected        |
        | cat ../files/mine.txt               | mine            |
        | tail -1 ../files/b.txt              | 4               |
        | stat -c %a ../app.db ../files/b.txt | 600; 600        |

    Scenario: It says what was applied to each
      When the user applies the plan
      Then the apply says
        | path   | status   | change |
        | a.txt  | added    | +3 -0  |
        | b.txt  | modified | +3 -0  |
        | app.db | modified | binary |

  Rule: or none of them does

    Scenario Outline: The user has <done>
      Given the user has since run `<command>`
      When the user applies the plan
      Then the exit code is <code>
      And the error's code is <error>
      And the project is as it was

      Examples:
        | done                            | code | error          | command                                  |
        | changed a file of the directory | 6    | merge_conflict | echo mine >> ../files/b.txt              |
        | deleted it                      | 6    | merge_conflict | rm ../files/b.txt                        |
        | put a directory in its place    | 6    | merge_conflict | rm ../files/b.txt; mkdir ../files/b.txt  |
        | made it a pipe                  | 6    | merge_conflict | rm ../files/b.txt; mkfifo ../files/b.txt |
        | written to the database         | 6    | merge_conflict | add row 9 to the goods in ../app.db      |
        | deleted the database            | 6    | merge_conflict | rm ../app.db                             |
        | made a file of the directory    | 4    | target_refused | rm -r ../files; echo x > ../files        |

    Scenario: A branch cannot hold all of it
      When the user applies the plan with `--branch result`
      Then the error's code is target_refused
      And the project is as it was

    Scenario Outline: At <point> somebody writes to the database
      Given somebody writes to the database when the apply is at <point>
      When the user applies the plan
      Then the error's code is target_changed
      And the others' own words are
        | command                                            | expected |
        | git log -1 --format=%s                             | start    |
        | cat ../files/b.txt                                 | b        |

      Examples:
        | point           |
        | apply-journaled |
        | target-written  |

    Scenario Outline: The database <trouble>
      Given the database <trouble>
      When the user applies the plan
      Then the error's code is <error>
      And the project is as it was

      Examples:
        | trouble                      | error          |
        | is kept locked               | target_changed |
        | makes SQLite fail            | target_refused |

    Scenario: What the user has built on is not taken away
      Given the user runs `git commit -q --allow-empty -m mine` when the apply is at target-settled
      And somebody writes to the database right before it is replaced
      When the user applies the plan
      Then the exit code is 7
      And the error tells that "its branch has moved on from what was applied"

    Scenario: Somebody writes to the third at the last moment
      Given somebody writes to the database right before it is replaced
      When the user applies the plan
      Then the error's code is target_changed
      And the others' own words are
        | command                                                | expected |
        | git log -1 --format=%s                                 | start    |
        | git status --porcelain                                 |          |
        | ls ../files                                            | b.txt    |
        | print the last and the count of the goods in ../app.db | 99 1     |

    Scenario: The third cannot be written
      Given the database can only be read
      When the user applies the plan
      Then the exit code is 4
      And the project is as it was
      And the plan is execute/complete with 4 steps done

  Rule: also when it is killed or fails

    Scenario Outline: Killed at <point>
      When the apply is killed each time it is at <point>, and then asked for again
      Then the project was each time as after it

      Examples:
        | point           |
        | target-planned  |
        | apply-journaled |
        | target-locked   |
        | file-placed     |
        | target-written  |
        | target-settled  |
        | apply-recorded  |

    Scenario Outline: Failing at <point>
      When the apply fails each time it is at <point>
      Then the project was each time as before it

      Examples:
        | point          |
        | target-locked  |
        | file-placed    |
        | target-written |
        | branch-moved   |
        | target-settled |

    Scenario: Killed while it is undone
      When the apply fails at branch-moved, and is killed at target-undone
      Then the project was each time as before it or as after it
