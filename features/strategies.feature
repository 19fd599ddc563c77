@disk
Feature: Every kind of resource has a sandbox of its own
  Directories are copied or overlaid, databases copied as of their last transaction, and a
  resource without isolation says that nothing of it can be undone.

  Rule: A directory is copied exactly

    Scenario Outline: A copied directory holds <what>
      Given a directory made by `<command>`
      When a plan gets the sandbox called filesystem_copy
      Then the sandbox is the directory, bit for bit, and the directory is untouched

      Examples:
        | what                   | command                                                      |
        | nested and empty ones  | mkdir -p a/b/c d; echo 1 > a/b/f; : > empty                  |
        | all permission bits    | echo 1 > f; chmod 6755 f; mkdir s; chmod 1777 s; chmod 500 . |
        | closed directories     | mkdir -p a/b; echo 1 > a/b/f; chmod 500 a/b; chmod 555 a     |
        | links, whole or broken | ln -s /nowhere b; ln -s .. up; echo 1 > f; ln -s f l         |
        | odd names              | touch -- '-x' '*' "$(printf 'new\nline')" "$(printf '\377')" |
        | a file with holes      | truncate -s 3M h; echo end >> h; truncate -s 5M h            |
        | a file of only a hole  | truncate -s 2M h                                             |
        | a large file           | head -c 3000000 /dev/urandom > f                             |

    Scenario: Holes stay holes, and hard links become files of their own
      Given a directory made by `truncate -s 50M h; echo 1 > f; ln f g`
      When a plan gets the sandbox called filesystem_copy
      Then the file h takes no room in the sandbox
      And the file f in the sandbox is nobody else's

    Scenario: Special files are left out and named
      Given a directory made by `mkdir d; mkfifo d/pipe; echo 1 > f`
      When a plan gets the sandbox called filesystem_copy
      Then the sandbox says that it lacks `d/pipe`, a special file: fifo
      And the sandbox was made by copy

    Scenario Outline: The bytes are shared where the file system can do that
      Given a directory made by `echo 1 > f; echo 2 > g; : > empty`
      And the file system shares the bytes of <files>
      When a plan gets the sandbox called filesystem_copy
      Then the sandbox was made by <method>
      And the sandbox is the directory, bit for bit, and the directory is untouched

      Examples:
        | files             | method  |
        | all files         | reflink |
        | the first of them | copy    |

    Scenario Outline: Where the kernel does not copy, the program does: <reason>
      Given a directory made by `head -c 2500000 /dev/urandom > f`
      And the kernel refuses to copy because of <reason>
      When a plan gets the sandbox called filesystem_copy
      Then the sandbox is the directory, bit for bit, and the directory is untouched

      Examples:
        | reason |
        | EXDEV  |
        | nothing |

  Rule: A copy is whole or not there

    Scenario Outline: A copy cannot be made because <fault>
      Given a directory made by `mkdir d; echo 1 > d/f; echo 2 > g`
      And the copy will fail because <fault>
      When a plan gets the sandbox called filesystem_copy
      Then that is refused because <reason>
      And no trace of the sandbox is left

      Examples:
        | fault                        | reason                        |
        | a file may not be read       | `d/f` in it cannot be read    |
        | a directory may not be read  | `d/` in it cannot be read     |
        | the disk is too small        | a copy needs                  |
        | the disk is full half-way    | The sandbox could not be created |
        | the directory has gone       | there is no such directory    |
        | the directory goes meanwhile | The sandbox could not be created |
        | reading fails                | The sandbox could not be created |

    Scenario: Files that go while they are copied are not missed
      Given a directory made by `mkdir d; echo 1 > d/f; echo 2 > g`
      And while it is copied `rm -r d` is run in it
      When a plan gets the sandbox called filesystem_copy
      Then the sandbox holds only g

    Scenario Outline: What a killed process left is <fate>
      Given a directory made by `echo 1 > f`
      And <leftover> of another plan
      When a plan gets the sandbox called filesystem_copy
      Then that leftover is <fate>

      Examples:
        | leftover                  | fate       |
        | a draft nobody works on   | gone       |
        | a draft that is at work   | left alone |
        | a draft half removed      | gone       |

    Scenario: A sandbox can be removed, and then is missing
      Given a directory made by `mkdir d; echo 1 > d/f; chmod 500 d`
      And a plan has the sandbox called filesystem_copy
      When the sandbox is removed, twice
      Then a check says that it is missing
      And the directory is as it was
