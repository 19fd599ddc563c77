Feature: Applying a patch
  A unified diff is applied to all files it names, or to none of them.

  Background:
    Given a sandbox with
      | kind | path       | content                       |
      | file | app.py     | one\ntwo\nthree\nfour\nfive\n |
      | file | lib/old.py | old\n                         |
      | file | empty.txt  |                               |

  Rule: the sandbox becomes what the patch says

    Scenario: Files are changed, made and deleted in one go
      Given the file app.py has the mode 0640
      When a tool applies the patch
        """
        Some words before it.

        --- a/app.py	2026-01-01 00:00:00
        +++ b/app.py	2026-01-02 00:00:00
        @@ -1,3 +1,3 @@ section
         one
        -two
        +2
         three
        --- /dev/null
        +++ b/new/file.txt
        @@ -0,0 +1 @@
        +new
        \ No newline at end of file
        --- a/lib/old.py
        +++ /dev/null
        @@ -1 +0,0 @@
        -old
        --
        2.39.5
        """
      Then the output is "modified app.py\ncreated new/file.txt\ndeleted lib/old.py\n"
      And the file app.py holds "one\n2\nthree\nfour\nfive\n"
      And the mode of app.py is 0640
      And the file new/file.txt holds "new"
      And the sandbox has only
        | path         |
        | app.py       |
        | empty.txt    |
        | new          |
        | new/file.txt |

    Scenario: git's headers rename, copy, delete and change modes
      When a tool applies the patch
        """
        diff --git a/lib/old.py b/lib/new name.py
        similarity index 50%
        rename from lib/old.py
        rename to lib/new name.py
        index 3367afd..3e75765 100644
        --- a/lib/old.py
        +++ b/lib/new name.py
        @@ -1 +1 @@
        -old
        +new
        diff --git a/app.py b/app.py
        old mode 100644
        new mode 100755
        diff --git a/app.py b/copy.py
        copy from app.py
        copy to copy.py
        diff --git a/empty.txt b/empty.txt
        deleted file mode 100644
        diff --git "a/t\303\251st.txt" "b/t\303\251st.txt"
        new file mode 100755
        """
      Then the output is "renamed lib/old.py to lib/new name.py\nmodified app.py\ncopied app.py to copy.py\ndeleted empty.txt\ncreated tést.txt\n"
      And the mode of app.py is 0755
      And the mode of copy.py is 0644
      And the mode of tést.txt is 0755
      And the file lib/new name.py holds "new\n"
      And the sandbox has only
        | path            |
        | app.py          |
        | copy.py         |
        | lib             |
        | lib/new name.py |
        | tést.txt        |

    Scenario: Two files are exchanged
      When a tool applies the patch
        """
        diff --git a/app.py b/lib/old.py
        similarity index 100%
        rename from app.py
        rename to lib/old.py
        diff --git a/lib/old.py b/app.py
        similarity index 100%
        rename from lib/old.py
        rename to app.py
        """
      Then the file app.py holds "old\n"
      And the file lib/old.py holds "one\ntwo\nthree\nfour\nfive\n"

    Scenario: A hunk fits a few lines away
      Given a sandbox with
        | kind | path  | content                    |
        | file | x.txt | new\nnew\na\nb\nc\nd\ne\nf |
      When a tool applies the patch
        """
        --- a/x.txt
        +++ b/x.txt
        @@ -1,2 +1,2 @@
         a
        -b
        +B
        @@ -6,1 +6,0 @@
        -f
        \ No newline at end of file
        """
      Then the file x.txt holds "new\nnew\na\nB\nc\nd\ne\n"
      And the output is "modified x.txt (hunk 1 was found 2 lines further down, hunk 2 was found 2 lines further down)\n"

    Scenario: Of two places the nearer one is taken
      Given a sandbox with
        | kind | path  | content                |
        | file | x.txt | a\nx\nx\nx\ny\na\nz\n |
      When a tool applies the patch
        """
        --- a/x.txt
        +++ b/x.txt
        @@ -5 +5 @@
        -a
        +A
        """
      Then the file x.txt holds "a\nx\nx\nx\ny\nA\nz\n"

    Scenario: A hunk fits further up
      When a tool applies the patch
        """
        --- a/app.py
        +++ b/app.py
        @@ -90,2 +90,1 @@
         one
        -two
        """
      Then the output is "modified app.py (hunk 1 was found 89 lines further up)\n"

    Scenario: Names without directories, a backup's name, and empty lines without their blank
      Given a sandbox with
        | kind | path  | content |
        | file | x.txt | a\n\nb\n |
      When a tool applies the patch without dropping directories
        """
        --- x.txt.orig
        +++ x.txt
        @@ -1,3 +1,2 @@
         a

        -b
        """
      Then the file x.txt holds "a\n\n"

    Scenario: A file that is not there is made when the patch only adds
      When a tool applies the patch
        """
        --- a/fresh.txt
        +++ b/fresh.txt
        @@ -0,0 +1 @@
        +fresh
        """
      Then the file fresh.txt holds "fresh\n"

    Scenario: A patch that was written with CRLF
      When a tool applies the patch with CRLF line ends
        """
        --- a/app.py
        +++ b/app.py
        @@ -1 +1 @@
        -one
        +1
        """
      Then the file app.py holds "1\ntwo\nthree\nfour\nfive\n"

    Scenario: A patch with plain line ends for a file with CRLF
      Given a sandbox with
        | kind | path      | content            |
        | file | [dos].txt | a\r\nb\r\nc\r\n    |
      When a tool applies the patch
        """
        --- a/[dos].txt
        +++ b/[dos].txt
        @@ -1,3 +1,4 @@
         a
        +new
         b
         c
        --- /dev/null
        +++ b/unix.txt
        @@ -0,0 +1 @@
        +plain
        """
      Then the file [dos].txt holds "a\r\nnew\r\nb\r\nc\r\n"
      And the file unix.txt holds "plain\n"

    Scenario: Names that look like two names, and names in quotes
      Given a sandbox with
        | kind | path    | content |
        | file | a => b  | a\n     |
        | file | q"q     | q\n     |
      When a tool applies the patch
        """
        diff --git a/a => b b/a => b
        --- a/a => b
        +++ b/a => b
        @@ -1 +1 @@
        -a
        +A
        diff --git "a/q\"q" b/plain
        similarity index 100%
        rename from "q\"q"
        rename to plain
        """
      Then the output is "modified a => b\nrenamed q"q to plain\n"
      And the file plain holds "q\n"

    Scenario: A binary file, as git writes it with all its bytes
      Given a sandbox with
        | kind   | path  | content    |
        | binary | b.bin | 0001616263 |
      When a tool applies the patch
        """
        diff --git a/b.bin b/b.bin
        index 9fc36a0bc577b5eacc60567d1383eed0f80b596f..a2be8b1a2ce4cb1d82f106a12956c6f07f5ac26f 100644
        GIT binary patch
        literal 6
        NcmZQzN=!;l0RRK!0gV6v

        literal 5
        McmZQzOiW4!00L71C;$Ke


        """
      Then the file b.bin holds "\0\2abcd"

  Rule: nothing but the patch decides what is written

    Scenario: The repository around the sandbox and its configuration are not used
      Given the sandbox is in a repository that converts files and runs programs
      When a tool applies the patch
        """
        --- a/app.py
        +++ b/app.py
        @@ -1,2 +1,2 @@
        -one
        + 	$Id$
         two
        """
      Then the file app.py holds " \t$Id$\ntwo\nthree\nfour\nfive\n"
      And nothing outside the sandbox has changed

  Rule: when something fails in the middle, all of it is undone

    Scenario: The disk is full at the second file
      Given the file app.py has the mode 0640
      When a tool applies a patch to app.py and lib/old.py that makes a file too large for the disk
      Then the tool fails with a message that has "The patch could not be written"
      And nothing inside or outside the sandbox has changed

    Scenario: git does not finish in time
      Given a program called git that never ends
      When a tool applies the patch within 1 second
        """
        --- a/app.py
        +++ b/app.py
        @@ -1 +1 @@
        -one
        +1
        """
      Then the tool fails with a message that has "it was still running after 1 seconds"
      And nothing inside or outside the sandbox has changed
