@disk
Feature: Special files in the way of a rollback
  A FIFO, socket or device holds no bytes. So a rollback removes one that stands where a captured
  file or directory was. Undoing the rollback makes a FIFO again. What cannot be made again is named
  before anything happens.

  Rule: what was captured comes back, whatever is in its place

    Scenario Outline: A FIFO <place>, in a sandbox made by <strategy>
      Given a plan on a directory in a sandbox made by <strategy>
      And the agent has then run `<command>`
      When the user rolls back to the first checkpoint, and then undoes that
      Then the sandbox was as at the first checkpoint, and then as the agent left it
      And the rollback named <named> as replaced

      Examples:
        | strategy        | place                            | named       | command                                          |
        | git_worktree    | where a file was                 | f           | rm f; mkfifo -m 600 f                            |
        | git_worktree    | where a directory was            | d           | rm -r d; mkfifo d                                |
        | git_worktree    | in a directory that was a file   | f/in/p      | rm f; mkdir -p f/in; mkfifo -m 640 f/in/p        |
        | git_worktree    | above a file                     | d/in        | rm -r d/in; mkfifo -m 606 d/in                   |
        | filesystem_copy | where a file was                 | f           | rm f; mkfifo -m 600 f                            |
        | filesystem_copy | where a directory was            | d           | rm -r d; mkfifo d                                |
        | filesystem_copy | in a directory that was a file   | f/in/p      | rm f; mkdir -p f/in; mkfifo -m 640 f/in/p        |
        | filesystem_copy | above a file                     | d/in        | rm -r d/in; mkfifo -m 606 d/in                   |
        | overlay         | where a file was                 | f           | rm f; mkfifo -m 600 f                            |
        | overlay         | where a directory was            | d           | rm -r d; mkfifo d                                |
        | overlay         | in a directory that was a file   | f/in/p      | rm f; mkdir -p f/in; mkfifo -m 640 f/in/p        |
        | overlay         | above a file                     | d/in        | rm -r d/in; mkfifo -m 606 d/in                   |

    Scenario Outline: A <kind> <place>, in a sandbox made by <strategy>
      Given a plan on a directory in a sandbox made by <strategy>
      And the agent has then run `<command>`
      When the user rolls back to the first checkpoint, and then undoes that
      Then the sandbox was as at the first checkpoint, and then without <named>
      And the preview said `An undo cannot bring back <named> (special file: <kind>)`
      And the rollback named <named> as replaced

      Examples:
        | strategy        | kind   | place                          | named | command                              |
        | git_worktree    | socket | where a file was               | f     | rm f; socket f                       |
        | git_worktree    | socket | in a directory that was a file | f/s   | rm f; mkdir f; socket f/s            |
        | git_worktree    | device | where a file was               | f     | rm f; mknod f c 1 3                  |
        | filesystem_copy | socket | where a directory was          | d     | rm -r d; socket d                    |
        | filesystem_copy | device | in a directory that was a file | f/n   | rm f; mkdir f; mknod f/n c 1 3       |
        | overlay         | socket | where a file was               | f     | rm f; socket f                       |

    Scenario: The question names what is replaced
      Given a plan on a directory in a sandbox made by git_worktree
      And the agent has then run `rm f; mkfifo f; rm -r d; socket d`
      And the user sits before a terminal
      When the user answers "n" when asked for a rollback to the first checkpoint
      Then the error output says "It replaces the FIFO `f`; an undo makes it again."
      And the error output says "An undo cannot bring back `d` (special file: socket)"
      And the agent's special files are still there

    Scenario: A FIFO that the agent removed comes back with the checkpoint
      Given a plan on a directory in a sandbox made by git_worktree
      And the agent has then run `mkfifo -m 620 p; mkdir q; mkfifo q/r`
      And the user has made a checkpoint of it
      And the agent has then run `rm -r p q; echo 1 > p; echo 1 > q`
      When the user rolls back to the checkpoint, and then undoes that
      Then the sandbox was as at the checkpoint, and then as the agent left it

    Scenario: A failed rollback leaves the FIFO where it was
      Given a plan on a directory in a sandbox made by git_worktree
      And the agent has then run `rm f; mkfifo -m 600 f`
      When the rollback to the first checkpoint fails after the files are restored
      Then the agent's special files are still there

  Rule: what a user has in the project is never replaced

    Scenario Outline: A <kind> in the project where <what> is applied, to <target>
      Given a plan on <target> that wrote `f` and `new`
      And the user has since run `<command>` there
      When the user applies the plan
      Then the exit code is <code>
      And the error tells that "<message>"
      And everything there is as the user left it

      Examples:
        | target       | kind   | what             | code | message         | command                     |
        | a repository | FIFO   | a changed file   | 4    | uncommitted changes in files that the plan changed: f | rm f; mkfifo f              |
        | a repository | FIFO   | a new file       | 4    | `new` is a special file (fifo) | mkfifo new                  |
        | a repository | socket | a new file       | 4    | `new` is a special file (socket) | socket new                  |
        | a directory  | FIFO   | a changed file   | 6    | both changed: f | rm f; mkfifo f              |
        | a directory  | FIFO   | a new file       | 6    | both changed: new | mkfifo new                  |
        | a directory  | socket | a new file       | 6    | both changed: new | socket new                  |
