Feature: Editing a file
  A tool replaces a passage of a text file and keeps every other byte.

  Rule: the old text must be where the plan says

    Scenario: A passage that occurs once is replaced
      Given a sandbox with
        | kind | path   | content                   |
        | file | app.py | import os\nprint('old')\n |
      And the file app.py has the mode 0750
      When a tool replaces `print('old')` by `print('é')` in app.py
      Then the file app.py holds "import os\nprint('é')\n"
      And the mode of app.py is 0750
      And the output is "Replaced 1 passage in app.py"

    Scenario Outline: How often it occurs decides
      Given a sandbox with
        | kind | path  | content |
        | file | x.txt | <text>  |
      When the tool `edit-file` runs with `{"path": "x.txt", "old": "<old>", "new": "N"<more>}`
      Then the tool fails because <reason>
      And nothing inside or outside the sandbox has changed

      Examples:
        | text    | old | more                      | reason                                             |
        | a b     | c   |                           | `x.txt` does not contain the old text                 |
        | a b     | A   | , "all": true             | `x.txt` does not contain the old text                 |
        | a b a   | a   |                           | `x.txt` contains the old text 2 times, not 1 time     |
        | aaa     | aa  |                           | `x.txt` contains the old text 2 times, not 1 time     |
        | a b a   | a   | , "count": 3              | `x.txt` contains the old text 2 times, not 3 times    |
        | a       | a   | , "count": 1, "all": true | `count` and `all` cannot be used together               |
        | N       | N   |                           | `old` and `new` are the same: there is nothing to change |
        | a       |     |                           | `old` must not be ``                               |
        | a       | a   | , "count": 0              | `count` must be at least 1                         |

    Scenario Outline: Several occurrences are replaced when that is asked for
      Given a sandbox with
        | kind | path  | content |
        | file | x.txt | a b a   |
      When the tool `edit-file` runs with `{"path": "x.txt", "old": "a", "new": "", <how>}`
      Then the file x.txt holds " b "
      And the output is "Replaced 2 passages in x.txt"

      Examples:
        | how         |
        | "all": true |
        | "count": 2  |

  Rule: line ends stay as they are

    Scenario Outline: A passage of several lines
      Given a sandbox with
        | kind | path  | content |
        | file | x.txt | <text>  |
      When a tool replaces `<old>` by `<new>` in x.txt
      Then the file x.txt holds "<result>"

      Examples:
        | text          | old      | new      | result             |
        | a\r\nb\r\nc   | a\nb     | x\ny\nz  | x\r\ny\r\nz\r\nc   |
        | a\r\nb\r\nc   | a\r\nb   | x\ny     | x\ny\r\nc          |
        | a\r\nb\nc     | b        | x\ny     | a\r\nx\ny\nc       |
        | a\nb\n        | a\nb     | x        | x\n                |

  Rule: only text is edited

    Scenario Outline: A file that is not text
      Given a sandbox with
        | kind   | path | content |
        | <kind> | x    | <bytes> |
      When a tool replaces `a` by `b` in x
      Then the tool fails because <reason>
      And nothing inside or outside the sandbox has changed

      Examples:
        | kind    | bytes  | reason                                       |
        | binary  | 61ff   | `x` is not UTF-8 text: byte 1 cannot be read |
        | binary  | 610062 | `x` is a binary file                         |
        | symlink | y      | `x` is a symlink, not a file                 |
        | pipe    |        | `x` is a special file, not a file            |

    Scenario: A huge file
      Given a sandbox with
        | kind | path | content |
        | file | x    |         |
      And the file x has 67108865 bytes
      When a tool replaces `a` by `b` in x
      Then the tool fails because `x` is larger than 64 MB

    Scenario: Text that no file can hold
      Given a sandbox with
        | kind | path | content |
        | file | x    | a       |
      When the tool `edit-file` runs with `{"path": "x", "old": "a", "new": "\ud800"}`
      Then the tool fails because The content cannot be written as UTF-8
      And nothing inside or outside the sandbox has changed
