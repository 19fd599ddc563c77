Feature: Listing files
  A tool lists what is in a directory of the sandbox, one path in a line.

  Background:
    Given a sandbox with
      | kind      | path             | content |
      | file      | README.md        |         |
      | file      | src/app.py       |         |
      | file      | src/b/test_b.py  |         |
      | file      | src/b/c/test_c.py |        |
      | directory | empty            |         |
      | symlink   | link             | src     |
      | symlink   | outside          | OUTSIDE |
      | file      | .git             | gitdir  |

  Rule: paths are sorted and say what they are

    Scenario: The sandbox itself
      When the tool `list-files` runs with `{}`
      Then the output is "README.md\nempty/\nlink -> src\noutside -> OUTSIDE\nsrc/\n"

    Scenario Outline: A part of it
      When the tool `list-files` runs with `<input>`
      Then the output is "<output>"

      Examples:
        | input                                        | output                                                             |
        | {"path": "src"}                              | src/app.py\nsrc/b/\n                                               |
        | {"path": "./src/../src/b/"}                  | src/b/c/\nsrc/b/test_b.py\n                                        |
        | {"path": "link"}                             | link/app.py\nlink/b/\n                                             |
        | {"path": "src", "recursive": true}           | src/app.py\nsrc/b/\nsrc/b/c/\nsrc/b/c/test_c.py\nsrc/b/test_b.py\n |
        | {"pattern": "*.md"}                          | README.md\n                                                        |
        | {"pattern": "*.py", "recursive": true}       | src/app.py\nsrc/b/c/test_c.py\nsrc/b/test_b.py\n                   |
        | {"pattern": "src/*"}                         | src/app.py\nsrc/b/\n                                               |
        | {"pattern": "src/**/test_?.py"}              | src/b/c/test_c.py\nsrc/b/test_b.py\n                               |
        | {"pattern": "**/c/*"}                        | src/b/c/test_c.py\n                                                |
        | {"pattern": "x/**"}                          | [nothing]\n                                                        |
        | {"path": "empty"}                            | [nothing]\n                                                        |
        | {"path": "src", "limit": 1}                  | src/app.py\n[there are more than 1: narrow `path` or `pattern`, or raise `limit`]\n |

    Scenario: Names that are no line of text
      Given a sandbox with names that no line can hold
      When the tool `list-files` runs with `{"path": "odd"}`
      Then the output is "odd/\u0020\n\"odd/\\\"q\\\"\\n\"\n"

    Scenario: A directory that goes away meanwhile is passed over
      Given the directory src/b will be gone when its turn comes
      When the tool `list-files` runs with `{"path": "src", "recursive": true}`
      Then the output is "src/app.py\nsrc/b/\n"

  Rule: the tool stays inside

    Scenario Outline: A path that is not listed
      When the tool `list-files` runs with `{"path": "<path>"}`
      Then the tool fails because <reason>

      Examples:
        | path      | reason                               |
        | ..        | `..` is outside the sandbox          |
        | outside   | `outside` is outside the sandbox     |
        | README.md | `README.md` is not a directory          |
        | nothing   | There is no `nothing` in the sandbox |
