Feature: Patches that are refused
  What cannot be applied whole changes nothing, and the message says where it fails.

  Background:
    Given a sandbox with
      | kind    | path      | content            |
      | file    | app.py    | one\ntwo\nthree\n  |
      | file    | .git      | gitdir: elsewhere  |
      | binary  | logo.png  | 89504e47000a       |
      | symlink | secret    | OUTSIDE/secret.txt |
      | symlink | outside   | OUTSIDE            |

  Rule: what does not fit is named

    Scenario Outline: A patch for other files
      When a tool applies a patch of
        | line     |
        | --- <old> |
        | +++ <new> |
        | <hunk>   |
        | <first>  |
        | <second> |
      Then the tool fails because <reason>
      And nothing inside or outside the sandbox has changed

      Examples:
        | old         | new            | hunk              | first | second | reason                                                            |
        | a/app.py    | b/app.py       | @@ -1 +1 @@       | -One  | +1     | Hunk 1 of `app.py` does not fit; nothing was changed              |
        | a/app.py    | b/app.py       | @@ -9,0 +10,2 @@  | +x    | +y     | Hunk 1 of `app.py` does not fit; nothing was changed              |
        | a/gone      | b/gone         | @@ -1 +1 @@       | -a    | +b     | There is no `gone` in the sandbox; nothing was changed            |
        | /dev/null   | b/app.py       | @@ -0,0 +1,2 @@   | +a    | +b     | There is a `app.py` already; nothing was changed                  |
        | a/app.py    | /dev/null      | @@ -1,2 +0,0 @@   | -one  | -two   | `app.py` would not be empty, so it is not deleted; nothing was changed |
        | app.py      | app.py         | @@ -1 +1 @@       | -one  | +1     | Line 3 of the patch: `app.py` has no 1 leading directories to drop |
        | a/../../x   | b/../../x      | @@ -1 +1 @@       | -one  | +1     | `../../x` is outside the sandbox                                  |
        | a/.git      | b/.git         | @@ -1 +1 @@       | -one  | +1     | `.git` belongs to git, and file tools do not write there          |
        | /dev/null   | b/.git/hooks/x | @@ -0,0 +1,2 @@   | +a    | +b     | `.git/hooks/x` belongs to git, and file tools do not write there  |
        | a/secret    | b/secret       | @@ -1 +1 @@       | -a    | +1     | `secret` is a symlink, not a file                                 |
        | /dev/null   | b/outside/x    | @@ -0,0 +1,2 @@   | +a    | +b     | `outside/x` leads through `outside`, which is a symlink           |
        | a/logo.png  | b/logo.png     | @@ -1 +1 @@       | -PNG  | +GIF   | Hunk 1 of `logo.png` does not fit; nothing was changed            |
        | /dev/null   | /dev/null      | @@ -0,0 +1,2 @@   | +a    | +b     | Line 3 of the patch: both names are /dev/null                     |

    Scenario: The same patch twice
      Given the patch was applied before
        """
        --- a/app.py
        +++ b/app.py
        @@ -1,3 +1,4 @@
         one
         two
        +new
         three
        """
      When the tool applies it again
      Then the tool fails because Hunk 1 of `app.py` does not fit; nothing was changed
      And the hint of the tool is "It seems to be applied already"

    Scenario: The second file does not fit
      When a tool applies a patch of
        | line         |
        | --- a/app.py |
        | +++ b/app.py |
        | @@ -1 +1 @@  |
        | -one         |
        | +1           |
        | --- a/gone   |
        | +++ b/gone   |
        | @@ -1 +1 @@  |
        | -a           |
        | +b           |
      Then the tool fails because There is no `gone` in the sandbox; nothing was changed
      And nothing inside or outside the sandbox has changed

  Rule: what cannot be read is no patch

    Scenario Outline: A text that is no patch
      When a tool applies the text "<text>" as a patch
      Then the tool fails because <reason>

      Examples:
        | text                                                          | reason                                                                     |
        |                                                               | The patch holds no change                                                  |
        | Hello\n                                                       | The patch holds no change                                                  |
        | \ud800                                                        | The content cannot be written as UTF-8                                     |
        | @@ -1 +1 @@\n-a\n+b\n                                         | Line 1 of the patch: a hunk stands before any file's name                  |
        | --- a/x\n+++ b/x\n                                            | Line 3 of the patch: `x` has no hunk                                       |
        | --- a/x\n+++ b/x\n@@ ... @@\n-a\n                             | Line 3 of the patch: hunk 1 of `x` has no line numbers that can be read    |
        | --- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n                         | Line 5 of the patch: hunk 1 of `x` ends too early                          |
        | --- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\nHello\n                  | Line 5 of the patch: hunk 1 of `x` ends too early                          |
        | --- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n-b\n                     | Line 5 of the patch: hunk 1 of `x` has not the numbers of lines that it says |
        | --- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n                   | Line 6 of the patch: hunk 1 of `x` has more lines than it says             |
        | --- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-c\n                   | Line 6 of the patch: hunk 1 of `x` has more lines than it says             |
        | diff --git a/x b/x\nindex 1..2 100644\n                       | Line 3 of the patch: `x` has no hunk                                       |
        | diff --git a/x b/y\nold mode 100644\nnew mode 100755\n        | Line 4 of the patch: the names after `diff --git` cannot be told apart     |
        | diff --git a/x b/x\nnew file mode 120000\n                    | Line 2 of the patch: only files are patched, and the mode 120000 is of something else |
        | diff --git a/x b/x\nBinary files a/x and b/x differ\n         | Line 2 of the patch: a binary file cannot be patched                       |
