Feature: Processes in a private view of a project
  A view belongs to the processes that see it. Whoever of them dies, the next command finds it
  again, and where a view is not possible no command starts.

  Rule: Whoever dies, the view is found again

    Scenario: The recorder is killed while the command works in its view
      Given private views are possible here
      And a project of the kind `git`
      And a session `--isolation private` whose command writes `early` and waits
      When the recorder is killed, and the command writes `late` and ends
      Then the exit code is 7
      And the session is `execute/complete`, with the exit code `7`
      And its last checkpoint has `early` and `late`
      And the files of the project are as before

    Scenario: A rollback while the command works in its view
      Given private views are possible here
      And a project of the kind `git`
      And a session `--isolation private` whose command writes `early` and waits
      And the user has run "agents rollback @first --yes"
      And the session still runs
      When the command writes `late` and ends
      Then its last checkpoint has `late` and not `early`
      And the files of the project are as before

    Scenario: A view whose command outlives everybody is joined
      Given private views are possible here
      And a project of the kind `git`
      And a session `--isolation private` whose command writes `early` and waits
      And `agents run` and the recorder were killed, and the command waits
      And the view was rolled back to the start
      When the command writes `late` into the view and ends
      Then the view has `late` and not `early`
      And the files of the project are as before

    Scenario: Everything is killed at once, and the view is mounted again
      Given private views are possible here
      And a project of the kind `git`
      And a session `--isolation private` whose command writes `early` and waits
      And everything was killed at once
      And the view was rolled back to the start
      When the user undoes that
      Then the view has `early` and not `late`

  Rule: A kill before the command begins leaves the project as it was

    Scenario Outline: `agents run` is killed at <point>, and the session is cancelled
      Given private views are possible here
      And a project of the kind `git`
      And `agents run --isolation private` was killed at <point>
      When the user runs "agents doctor --fix"
      Then the exit code is 0
      And the session is `execute/cancelled`, with the exit code `null`
      And no sandbox is left
      And the files of the project are as before

      Examples:
        | point              |
        | sandbox-made       |
        | sandboxes-recorded |
        | session-created    |

    Scenario Outline: The recorder is killed at <point> of the first checkpoint, and another one goes on
      Given private views are possible here
      And a project of the kind `git`
      And the first process that is at <point> for the time number 1 is killed there
      When a session in a private view runs `echo two > a.txt`
      Then that process was killed
      And the exit code is 0
      And its checkpoints are `session_start, session_end`
      And the files of the project are as before

      Examples:
        | point          |
        | snapshot-taken |
        | start-kept     |

  Rule: What is not possible is refused before the command starts

    Scenario: Something is mounted below the project
      Given a project of the kind `git`
      And something is mounted at `src` in the project
      When a session in a private view runs `echo two > a.txt`
      Then the exit code is 125
      And the error output says "something else is mounted in the project"
      And the error output says "`-i`"

    Scenario: The git of the project is outside of it
      Given a project of the kind `git`
      And the git of the project is elsewhere
      When a session in a private view runs `echo two > a.txt`
      Then the exit code is 125
      And the error output says "outside of the project"

    Scenario Outline: The trial of a view meets <met>
      Given a project of the kind `git`
      And the trial of a view meets `<met>`, where `<setting>` is set
      When somebody asks for a view of the project
      Then the answer says "<reason>"
      And the advice says "<hint>"
      And the advice says "`-i`"

      Examples:
        | met           | setting                                                | reason                        | hint                       |
        | namespace 1   | nothing                                                | does not permit namespaces    | seccomp profile            |
        | namespace 28  | /proc/sys/user/max_user_namespaces                     | permits no user namespaces    | user.max_user_namespaces   |
        | namespace 1   | /proc/sys/kernel/unprivileged_userns_clone             | to root only                  | Ask the administrator      |
        | namespace 13  | /proc/sys/kernel/apparmor_restrict_unprivileged_userns | only to the programs          | AppArmor profile           |
        | mount 1       | /proc/sys/kernel/apparmor_restrict_unprivileged_userns | no privilege                  | AppArmor profile           |
        | mount 22      | nothing                                                | cannot be mounted             | local file systems         |
        | copy 75       | nothing                                                | files cannot be changed in it | copy                       |
        | another owner | nothing                                                | belongs to another user       | chgrp                      |

  Rule: A user can look into a view

    Scenario: A command in a view sees what the session left, at the project's path
      Given a project of the kind `git`
      And a session in a private view has run `echo two > a.txt`
      When the user runs "agents enter -- sh -c 'cat a.txt; pwd'"
      Then the exit code is 0
      And the output says "two"
      And the output says the path of the project
      And the files of the project are as before

    Scenario: What a command in a view changes can be undone
      Given a project of the kind `git`
      And a session in a private view has run `echo two > a.txt`
      And the user has run "agents enter -- sh -c 'echo three > a.txt'"
      When the view is rolled back to `@-2`
      Then the view has `two` in `a.txt`

    Scenario: A command enters the view of a session that still runs
      Given private views are possible here
      And a project of the kind `git`
      And a session `--isolation private` whose command writes `early` and waits
      When the user runs "agents enter -- cat early"
      Then the exit code is 0
      And the output says "early"

    Scenario: A copy is entered where it is
      Given a project of the kind `git`
      And a session `--isolation copy` has run `echo two > a.txt`
      When the user runs "agents enter -- cat a.txt"
      Then the exit code is 0
