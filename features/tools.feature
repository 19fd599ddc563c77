Feature: File tools
  A plan writes, reads and deletes files of its sandbox, and nothing else.

  Rule: writing replaces a file whole

    Scenario: A new file is made with its directories
      Given a sandbox with
        | kind | path | content |
      When a tool writes src/app/main.py with "print('é')\n"
      Then the file src/app/main.py holds "print('é')\n"
      And the output is "Wrote 12 bytes to src/app/main.py"
      And the sandbox has only
        | path            |
        | src             |
        | src/app         |
        | src/app/main.py |

    Scenario: A file that is there keeps its permissions
      Given a sandbox with
        | kind | path   | content |
        | file | run.sh | old     |
      And the file run.sh has the mode 0750
      When a tool writes run.sh with "new"
      Then the file run.sh holds "new"
      And the mode of run.sh is 0750

    Scenario: Permissions can be asked for
      Given a sandbox with
        | kind | path   | content |
        | file | run.sh | old     |
      When a tool writes run.sh with "new" and the mode 0700
      Then the mode of run.sh is 0700

    Scenario: A new file can have permissions of its own
      Given a sandbox with
        | kind | path | content |
      When a tool writes key.pem with "key" and the mode 600
      Then the mode of key.pem is 0600

    Scenario: Another name of the file keeps the old content
      Given a sandbox with
        | kind | path     | content |
        | file | data.txt | old     |
      And the file data.txt has another name outside the sandbox
      When a tool writes data.txt with "new"
      Then the file data.txt holds "new"
      And its other name still holds "old"

    Scenario: When the disk takes no more, the old file is as it was
      Given a sandbox with
        | kind | path     | content |
        | file | data.txt | old     |
      When a tool writes more than the disk takes to data.txt
      Then the tool fails because `data.txt`: File too large
      And nothing inside or outside the sandbox has changed

  Rule: deleting removes one entry

    Scenario: A symlink is deleted, and what it points to stays
      Given a sandbox with
        | kind    | path | content            |
        | symlink | link | OUTSIDE/secret.txt |
      When a tool deletes link
      Then the output is "Deleted link"
      And nothing outside the sandbox has changed

    Scenario: A directory is deleted when that is asked for
      Given a sandbox with
        | kind    | path       | content |
        | file    | old/a.txt  | a       |
        | symlink | old/out    | OUTSIDE |
        | file    | keep.txt   | keep    |
      When a tool recursively deletes old
      Then the sandbox has only
        | path     |
        | keep.txt |
      And nothing outside the sandbox has changed

  Rule: reading gives text back

    Scenario: A symlink that stays inside is followed
      Given a sandbox with
        | kind    | path          | content         |
        | file    | docs/text.txt | hello           |
        | symlink | a/up          | ../docs/./text.txt |
        | symlink | b             | SANDBOX/a       |
      When a tool reads b/up
      Then the output is "hello"

    Scenario: A long file gives its beginning and its end
      Given a sandbox with
        | kind | path    | content |
        | file | big.txt |         |
      And the file big.txt has 1000000 bytes
      When a tool reads big.txt
      Then the output is cut, and says that 737856 bytes were left out

    Scenario Outline: A binary file is described
      Given a sandbox with
        | kind   | path     | content |
        | binary | logo.png | <bytes> |
      When a tool reads logo.png
      Then the output is "logo.png is a binary file of <size> bytes"

      Examples:
        | bytes    | size |
        | 89504e47 | 4    |
        | 610062   | 3    |
        | 61c3     | 2    |
