Feature: Merging what subplans made
  A plan says what happens where two of its subplans have changed the same file.

  Rule: the strategy decides

    Scenario Outline: Two children change the same line with <strategy>
      Given the project's list has 9 lines
      And a plan whose subplans run parallel
        | subplan | does                                        |
        | one     | runs `sed -i 's/^5$/one/;s/^1$/1st/' list.txt` |
        | two     | runs `sed -i 's/^5$/two/;s/^9$/9th/' list.txt` |
      And its subplans have `merge_strategy` <strategy>
      When the user runs the plan
      Then the exit code is <code>
      And the plan is execute/<state> with <done> steps done
      And the list in the sandbox has the lines <lines>

      Examples:
        | strategy         | code | state    | done | lines                 |
        | last_wins        | 0    | complete | 3    | 1 2 3 4 two 6 7 8 9th   |
        | sequential_apply | 0    | complete | 3    | 1st 2 3 4 two 6 7 8 9th |
        | fail_on_conflict | 8    | errored  | 1    | 1 2 3 4 5 6 7 8 9       |

    Scenario: Different lines of one file are merged
      Given the project's list has 9 lines
      And a plan whose subplans run parallel
        | subplan | does                               |
        | one     | runs `sed -i 's/^1$/1st/' list.txt` |
        | two     | runs `sed -i 's/^9$/9th/' list.txt` |
      When the user runs the plan
      Then the exit code is 0
      And the list in the sandbox has the lines 1st 2 3 4 5 6 7 8 9th

    Scenario: What one deletes and another changes is a conflict
      Given a plan whose subplans run parallel
        | subplan | does                      |
        | one     | runs `rm README.md`       |
        | two     | runs `echo more >> README.md` |
      And the plan has come into conflict
      When the user asks for the conflicts
      Then the conflicts listed are
        | path      | kind    | marked | subplan |
        | README.md | deleted | False  | two     |

    Scenario: What lay between one merge and the next is not kept
      Given a plan whose subplans run parallel
        | subplan | does                  |
        | one     | runs `echo 1 > 1.txt` |
        | two     | runs `echo 2 > 2.txt` |
        | three   | runs `echo 3 > 3.txt` |
      And the plan has run
      When the user reads about the installation as json
      Then the check "orphaned-snapshots" is ok: Every snapshot has its record

  Rule: every resource is merged

    Scenario: A child may work on some of the resources
      Given a plan on the project and a database, whose subplans are
        | subplan | resources    | does                              |
        | files   | project      | runs `echo new > new.txt`         |
        | rows    | data         | inserts 2                         |
      When the user runs the plan
      Then the exit code is 0
      And new.txt in the sandbox is `new\n`
      And the database in the sandbox holds 1 2
      And the subplan files has 1 sandbox

    Scenario: A database that two have written to is a conflict
      Given a plan on the project and a database, whose subplans are
        | subplan | resources    | does      |
        | one     | project data | inserts 2 |
        | two     | data         | inserts 3 |
      And the plan has come into conflict
      When the user takes theirs at everything
      Then the exit code is 0
      And the database in the sandbox holds 1 3
