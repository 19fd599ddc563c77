Feature: Rolling back named paths
  Files and directories can go back alone. The rest of the sandbox and the plan stay where they
  are, and it can be undone like any rollback.

  Rule: named paths

    Background:
      Given a plan with the steps
        | step  | does                                                                        |
        | one   | runs `mkdir -p d/e; echo 1 > a.txt; echo 1 > d/b.txt; chmod 640 d/b.txt`      |
        | two   | runs `echo 2 > a.txt; rm -r d; echo d > d; echo 2 > c.txt; chmod 600 run.sh`  |
      And the plan has run

    Scenario Outline: <paths>
      When the user takes <paths> back to "after one"
      Then the sandbox is the project after `<command>`
      And the plan is execute/complete with 2 steps done

      Examples:
        | paths        | command                                                                                                    |
        | a.txt        | echo 1 > a.txt; echo d > d; echo 2 > c.txt; chmod 600 run.sh                                               |
        | c.txt        | echo 2 > a.txt; echo d > d; chmod 600 run.sh                                                               |
        | d            | echo 2 > a.txt; mkdir -p d/e; echo 1 > d/b.txt; chmod 640 d/b.txt; echo 2 > c.txt; chmod 600 run.sh        |
        | ./run.sh     | echo 2 > a.txt; echo d > d; echo 2 > c.txt                                                                 |
        | a.txt c.txt  | echo 1 > a.txt; echo d > d; chmod 600 run.sh                                                               |
        | .            | mkdir -p d/e; echo 1 > a.txt; echo 1 > d/b.txt; chmod 640 d/b.txt                                          |

    Scenario: What was edited by hand elsewhere stays
      Given the user has changed the sandbox by `echo mine > mine.txt; echo more >> c.txt`
      When the user takes a.txt back to "after one"
      Then the sandbox is the project after `echo 1 > a.txt; echo d > d; echo 2 > c.txt; echo more >> c.txt; chmod 600 run.sh; echo mine > mine.txt`

    Scenario: It is a checkpoint of its own that the plan stands on, and can be undone
      Given a.txt alone has been rolled back to "after one"
      When the user undoes the last operation
      Then the sandbox is as it was at "after execution"
      And the plan's last checkpoint is "after execution"

    Scenario: The checkpoint of the part can be restored
      Given a.txt alone has been rolled back to "after one"
      And the user has changed the sandbox by `echo x > x`
      When the user rolls the plan back to "a.txt as of after one"
      Then the sandbox is the project after `echo 1 > a.txt; echo d > d; echo 2 > c.txt; chmod 600 run.sh`

    Scenario: A dry run names what would go back and changes nothing
      Given the user has changed the sandbox by `echo mine > mine.txt; echo more >> c.txt`
      When the user rehearses taking a.txt back to "after one"
      Then the rehearsal names a.txt as restored
      And nothing has changed

    Scenario Outline: <path> is refused
      When the user takes <path> back to "after one"
      Then the exit code is 2
      And the sandbox is as it was at "after execution"

      Examples:
        | path        |
        | /etc/passwd |
        | ../x        |
        | d/../../x   |

    Scenario Outline: <arguments> make no sense together
      When the user asks for a rollback with <arguments>
      Then the exit code is 2
      And nothing has changed

      Examples:
        | arguments                     |
        | --path a.txt                  |
        | @first --only-step 1          |
        | --only-step 1 --path a.txt    |
        | --only-step 0                 |

    Scenario: A path that neither has may be misspelt
      When the user takes a.txt aa.txt ./d/ back to "after one"
      Then the exit code is 0
      And it warns that "`aa.txt` is unchanged or does not exist"

    Scenario: Paths that would change nothing are refused
      When the user takes aa.txt back to "after one"
      Then it is refused with the code 2 and the sentence There is nothing to roll back: `aa.txt` is unchanged or does not exist
      And nothing has changed

    Scenario: A name is given as a diff shows it
      Given the user has changed the sandbox by `touch "$(printf 'new\nline')"`
      When the user takes new\nline back to "after one"
      Then the exit code is 0

    Scenario: A backslash may be part of a name
      Given the user has changed the sandbox by `touch 'new\nline'`
      When the user takes new\nline back to "after one"
      Then the exit code is 0

    Scenario: A step that was not done
      When the user rolls back only step 3
      Then it is refused with the code 2 and the sentence The plan has not completed a step 3
      And the sandbox is as it was at "after execution"
