Feature: Searching files
  A tool finds the lines that a regular expression matches, in bounded time.

  Background:
    Given a sandbox with
      | kind    | path       | content                    |
      | file    | a.py       | import os\nimport re\nX=1  |
      | file    | src/b.py   | def f():\r\n    import os  |
      | file    | src/c.txt  | Import Os\n                |
      | binary  | logo.png   | 696d706f7274206f7300       |
      | file    | .git/HEAD  | import os                  |
      | symlink | link.py    | a.py                       |
      | symlink | secret     | OUTSIDE/secret.txt         |
      | pipe    | pipe       |                            |

  Rule: each line that matches is given with its place

    Scenario Outline: Where is it
      When the tool `search-files` runs with `<input>`
      Then the output is "<output>"

      Examples:
        | input                                              | output                                                                                      |
        | {"pattern": "import os"}                           | a.py:1: import os\nsrc/b.py:2:     import os\n[binary files not searched: 1]\n              |
        | {"pattern": "^import", "path": "src", "ignore_case": true} | src/c.txt:1: Import Os\n                                                            |
        | {"pattern": "import", "glob": "*.py", "limit": 2}  | a.py:1: import os\na.py:2: import re\n[there are more than 2: narrow the search, or raise `limit`]\n |
        | {"pattern": "secret", "path": "src"}               | [no line matches]\n                                                                         |
        | {"pattern": "X.1$", "path": "./a.py"}              | a.py:3: X=1\n                                                                               |
        | {"pattern": "X", "path": "link.py"}                | link.py:3: X=1\n                                                                            |
        | {"pattern": "f", "path": ".git"}                   | [no line matches]\n                                                                         |

    Scenario: A line that is too long is cut
      Given the file a.py has 1100000 bytes
      When the tool `search-files` runs with `{"pattern": "x$", "path": "a.py", "limit": 1}`
      Then the output says that of line 1 only the beginning is shown

    Scenario: What could steer a terminal is not passed on
      Given a sandbox with
        | kind   | path | content    |
        | binary | raw  | 611b5b33ff |
      When the tool `search-files` runs with `{"pattern": "a", "path": "raw"}`
      Then the output is "raw:1: a\ufffd[3\ufffd\n"

  Rule: no search runs forever

    Scenario: A regular expression that would take forever
      Given a sandbox with
        | kind | path | content                              |
        | file | evil | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab |
      When a search for `^(a+)+$` has 1 second
      Then the tool fails because `search-files` took longer than 1 seconds and was stopped

    Scenario Outline: A search that cannot be
      When the tool `search-files` runs with `<input>`
      Then the tool fails because <reason>

      Examples:
        | input                               | reason                                                                               |
        | {"pattern": "("}                    | The pattern is not a regular expression: missing ), unterminated subpattern at position 0 |
        | {"pattern": ""}                     | `pattern` must not be ``                                                             |
        | {"pattern": "x", "path": "secret"}  | `secret` is outside the sandbox                                                      |
        | {"pattern": "x", "path": ".."}      | `..` is outside the sandbox                                                          |
        | {"pattern": "x", "path": "pipe"}    | `pipe` is a special file                                                             |
        | {"pattern": "x", "limit": 0}        | `limit` must be at least 1                                                           |
