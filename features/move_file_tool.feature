Feature: Moving files
  A tool gives a file, a symlink or a directory another path of the sandbox.

  Rule: what is moved is the entry itself

    Scenario: A file moves, and directories are made for it
      Given a sandbox with
        | kind | path  | content |
        | file | a.txt | text    |
      And the file a.txt has the mode 0640
      When a tool moves a.txt to b/c/d.txt
      Then the output is "Moved a.txt to b/c/d.txt"
      And the file b/c/d.txt holds "text"
      And the mode of b/c/d.txt is 0640
      And the sandbox has only
        | path      |
        | b         |
        | b/c       |
        | b/c/d.txt |

    Scenario: A symlink moves, and what it points to stays
      Given a sandbox with
        | kind    | path | content            |
        | symlink | link | OUTSIDE/secret.txt |
      When a tool moves link to other
      Then the link other points to OUTSIDE/secret.txt
      And nothing outside the sandbox has changed

    Scenario: A directory moves with everything in it
      Given a sandbox with
        | kind    | path      | content |
        | file    | a/b/c.txt | text    |
        | symlink | a/link    | nowhere |
      When a tool moves a to x/y/
      Then the sandbox has only
        | path        |
        | x           |
        | x/y         |
        | x/y/b       |
        | x/y/b/c.txt |
        | x/y/link    |

    Scenario: A directory moves although it cannot be renamed
      Given a sandbox with
        | kind    | path      | content |
        | file    | a/b/c.txt | text    |
        | symlink | a/link    | nowhere |
      And the file a/b has the mode 0711
      And directories cannot be renamed, as in the lower layer of an overlay
      When a tool moves a to x
      Then the mode of x/b is 0711
      And the sandbox has only
        | path      |
        | x         |
        | x/b       |
        | x/b/c.txt |
        | x/link    |

  Rule: nothing is lost unasked

    Scenario: A file is replaced when that is asked for
      Given a sandbox with
        | kind | path | content |
        | file | a    | new     |
        | file | b    | old     |
      When a tool moves a over b
      Then the file b holds "new"
      And the sandbox has only
        | path |
        | b    |

    Scenario: Two names of one file become one
      Given a sandbox with
        | kind | path | content |
        | file | a    | text    |
      And the file a is also called b
      When a tool moves a over b
      Then the sandbox has only
        | path |
        | b    |

    Scenario Outline: A move that cannot be
      Given a sandbox with
        | kind      | path      | content |
        | file      | a.txt     | text    |
        | file      | b.txt     | other   |
        | file      | dir/c.txt | inner   |
        | directory | empty     |         |
        | symlink   | outside   | OUTSIDE |
        | file      | .git      | gitdir  |
      When a tool moves <from> to <to>
      Then the tool fails because <reason>
      And nothing inside or outside the sandbox has changed

      Examples:
        | from               | to           | reason                                                     |
        | a.txt              | b.txt        | `b.txt` already exists                                 |
        | a.txt              | dir          | `dir` already exists                                   |
        | a.txt              | ./a.txt      | `a.txt` is already at this path                                   |
        | a.txt              | new/         | `new/` names a directory                                   |
        | dir                | dir/sub/dir  | `dir` cannot be moved into itself                          |
        | nothing            | x            | There is no `nothing` in the sandbox                       |
        | a.txt              | ../a.txt     | `../a.txt` is outside the sandbox                          |
        | ../outside         | x            | `../outside` is outside the sandbox                        |
        | a.txt              | SANDBOX-b/x  | `SANDBOX-b/x` is outside the sandbox                       |
        | a.txt              | outside/x    | `outside/x` leads through `outside`, which is a symlink    |
        | outside/secret.txt | x            | `outside/secret.txt` leads through `outside`, which is a symlink |
        | a.txt              | b.txt/x      | `b.txt/x` leads through `b.txt`, which is a file           |
        | a.txt              | .git/x       | `.git/x` belongs to git, and file tools do not write there |
        | .git               | x            | `.git` belongs to git, and file tools do not write there   |
        | a.txt              | a\0b         | `to` must not be `a\0b`                                    |

    Scenario: A directory is never replaced
      Given a sandbox with
        | kind      | path  | content |
        | file      | a     | text    |
        | directory | empty |         |
      When a tool moves a over empty
      Then the tool fails because `empty` is a directory, and is not replaced
      And nothing inside or outside the sandbox has changed
