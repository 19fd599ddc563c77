Feature: Paths of file tools
  No path leads a file tool out of its sandbox.

  Background:
    Given a sandbox with
      | kind      | path          | content            |
      | file      | README.md     | hello              |
      | file      | .git          | gitdir: elsewhere  |
      | directory | empty         |                    |
      | pipe      | pipe          |                    |
      | symlink   | outside       | OUTSIDE            |
      | symlink   | secret        | OUTSIDE/secret.txt |
      | symlink   | up            | ..                 |
      | symlink   | dir/up        | ../../outside      |
      | symlink   | inside        | README.md          |
      | symlink   | dangling      | nowhere            |
      | symlink   | loop          | loop               |

  Rule: writing follows no symlink and goes nowhere else

    Scenario Outline: A write is refused
      When a tool writes <path> with "changed"
      Then the tool fails because <reason>
      And nothing inside or outside the sandbox has changed

      Examples:
        | path                      | reason                                                            |
        | ../outside/secret.txt     | `../outside/secret.txt` is outside the sandbox                    |
        | empty/../../x             | `empty/../../x` is outside the sandbox                            |
        | /etc/passwd               | `/etc/passwd` is outside the sandbox                              |
        | SANDBOX-evil/x            | `SANDBOX-evil/x` is outside the sandbox                           |
        | SANDBOX/../x              | `SANDBOX/../x` is outside the sandbox                             |
        | outside/secret.txt        | `outside/secret.txt` leads through `outside`, which is a symlink  |
        | dir/up/secret.txt         | `dir/up/secret.txt` leads through `up`, which is a symlink        |
        | secret                    | `secret` is a symlink, not a file                                 |
        | inside                    | `inside` is a symlink, not a file                                 |
        | dangling                  | `dangling` is a symlink, not a file                               |
        | README.md/x               | `README.md/x` leads through `README.md`, which is a file          |
        | empty                     | `empty` is a directory, not a file                                |
        | empty/                    | `empty/` names a directory, not a file                            |
        | pipe                      | `pipe` is a special file, not a file                              |
        | .                         | `.` does not name a file inside the sandbox                              |
        | SANDBOX                   | `SANDBOX` does not name a file inside the sandbox                        |
        | .git                      | `.git` belongs to git, and file tools do not write there          |
        | ./.GIT/hooks/x            | `./.GIT/hooks/x` belongs to git, and file tools do not write there|
        | a\x00b                    | `path` must not be `a\0b`                                         |
        | \ud800                    | `'\\ud800'` is not a path                                         |

    Scenario: An absolute path inside the sandbox is fine
      When a tool writes SANDBOX/new/../made.txt with "made"
      Then the file made.txt holds "made"

    Scenario: A name may be too long for the file system
      When a tool writes a name of 300 characters
      Then the name is refused by the file system
      And nothing inside or outside the sandbox has changed

    Scenario: Text that is not text cannot be written
      When a tool writes bad.txt with "\ud800"
      Then the tool fails because The content cannot be written as UTF-8
      And nothing inside or outside the sandbox has changed

  Rule: reading follows a symlink only inside

    Scenario Outline: A read is refused
      When a tool reads <path>
      Then the tool fails because <reason>

      Examples:
        | path                  | reason                                          |
        | ../outside/secret.txt | `../outside/secret.txt` is outside the sandbox  |
        | OUTSIDE/secret.txt    | `OUTSIDE/secret.txt` is outside the sandbox     |
        | outside/secret.txt    | `outside/secret.txt` is outside the sandbox     |
        | secret                | `secret` is outside the sandbox                 |
        | up/outside/secret.txt | `up/outside/secret.txt` is outside the sandbox  |
        | dir/up/secret.txt     | `dir/up/secret.txt` is outside the sandbox      |
        | loop                  | `loop` leads through too many symlinks          |
        | dangling              | There is no `dangling` in the sandbox           |
        | README.md/x           | `README.md/x`: Not a directory                  |
        | empty                 | `empty` is a directory, not a file              |
        | pipe                  | `pipe` is a special file, not a file            |

  Rule: deleting follows no symlink

    Scenario Outline: A deletion is refused
      When a tool deletes <path>
      Then the tool fails because <reason>
      And nothing inside or outside the sandbox has changed

      Examples:
        | path               | reason                                                           |
        | nothing.txt        | There is no `nothing.txt` in the sandbox                         |
        | no/such            | There is no `no/such` in the sandbox                             |
        | outside/secret.txt | `outside/secret.txt` leads through `outside`, which is a symlink |
        | empty              | `empty` is a directory                                           |
        | .git               | `.git` belongs to git, and file tools do not write there         |
        | ..                 | `..` is outside the sandbox                                      |

  Rule: a sandbox that is not there holds nothing

    Scenario: A read says so
      Given the sandbox has been moved away
      When a tool reads README.md
      Then the tool fails because The sandbox SANDBOX cannot be opened: No such file or directory
