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
      Then the tool fails with a message that has "<reason>"
      And nothing inside or outside the sandbox has changed

      Examples:
        | old        | new            | hunk            | first | second | reason                                                                 |
        | a/app.py   | b/app.py       | @@ -1 +1 @@     | -One  | +1     | The patch does not fit, so nothing was changed: patch failed: app.py:1 |
        | a/gone     | b/gone         | @@ -1 +1 @@     | -a    | +b     | gone: No such file or directory                                        |
        | /dev/null  | b/app.py       | @@ -0,0 +1,2 @@ | +a    | +b     | app.py: already exists                                                 |
        | a/app.py   | /dev/null      | @@ -1,2 +0,0 @@ | -one  | -two   | removal patch leaves file contents                                     |
        | app.py     | app.py         | @@ -1 +1 @@     | -one  | +1     | The patch cannot be read: unable to find filename in patch at line 1   |
        | a/../../x  | b/../../x      | @@ -1 +1 @@     | -one  | +1     | `../../x` is outside the sandbox                                       |
        | a/.git     | b/.git         | @@ -1 +1 @@     | -one  | +1     | `.git` belongs to git                                                  |
        | /dev/null  | b/.git/hooks/x | @@ -0,0 +1,2 @@ | +a    | +b     | `.git/hooks/x` belongs to git                                          |
        | /dev/null  | b/lib/.git/x   | @@ -0,0 +1,2 @@ | +a    | +b     | invalid path 'lib/.git/x'                                              |
        | a/secret   | b/secret       | @@ -1 +1 @@     | -a    | +1     | `secret` is a symlink, not a file                                      |
        | /dev/null  | b/outside/x    | @@ -0,0 +1,2 @@ | +a    | +b     | `outside/x` leads through `outside`, which is a symlink                |
        | /dev/null  | b/app.py/x     | @@ -0,0 +1,2 @@ | +a    | +b     | `app.py/x` leads through `app.py`, which is a file                     |
        | a/logo.png | b/logo.png     | @@ -1 +1 @@     | -PNG  | +GIF   | logo.png: patch does not apply                                         |

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
      Then the tool fails with a message that has "The patch does not fit"
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
      Then the tool fails with a message that has "gone: No such file or directory"
      And nothing inside or outside the sandbox has changed

  Rule: a text that cannot be read whole is refused

    Scenario Outline: A text that is not a patch
      When a tool applies the text "<text>" as a patch
      Then the tool fails with a message that has "<reason>"

      Examples:
        | text                                                   | reason                                                               |
        |                                                        | The patch cannot be read: it contains no change                      |
        | Hello\n                                                | The patch cannot be read: it contains no change                      |
        | \ud800                                                 | The content cannot be written as UTF-8                               |
        | @@ -1 +1 @@\n-a\n+b\n                                  | The patch cannot be read: patch fragment without header at line 1    |
        | --- a/x\n+++ b/x\n                                     | The patch cannot be read: it contains no change                      |
        | --- a/x\n+++ b/x\n@@ ... @@\n-a\n                      | The patch cannot be read: it contains no change                      |
        | --- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n@@ ... @@\n+b\n   | Line 5 of the patch: this hunk has no line numbers                   |
        | --- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n                  | The patch cannot be read: corrupt patch at line 5                    |
        | --- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\nHello\n           | The patch cannot be read: corrupt patch at line 5                    |
        | --- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n-b\n              | The patch cannot be read: corrupt patch at line 6                    |
        | --- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n            | Line 6 of the patch: the hunk has more lines than its header says    |
        | --- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-c\n            | Line 6 of the patch: the hunk has more lines than its header says    |
        | diff --git a/x b/x\nindex 1..2 100644\n                | patch with only garbage at line 3                                    |
        | diff --git a/x b/y\nold mode 100644\nnew mode 100755\n | The patch cannot be read: git diff header lacks filename information |
        | diff --git a/x b/x\nnew file mode 120000\n             | The patch changes something other than a file: mode 120000           |
        | diff --git a/x b/x\nBinary files a/x and b/x differ\n  | The patch cannot be read: it contains no change                      |
