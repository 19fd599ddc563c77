@disk
Feature: What goes wrong around a sandbox
  Kills, full disks, missing permissions, restless files and damaged stores: a rollback is exact, or
  it is refused with a sentence, and then nothing has been touched.

  Rule: A kill at any moment is fixed by doing it again

    Scenario Outline: Killed while it <acts>
      When a process is killed at every <stride> act while it <acts>
      Then doing it again gave the exact result each time

      Examples:
        | acts              | stride |
        | create            | 6th    |
        | store             | 3rd    |
        | store and watch   | 4th    |
        | store and pack    | 7th    |
        | restore           | 4th    |
        | store a copy      | 4th    |
        | restore a copy    | 3rd    |
        | combine           | 2nd    |
        | fork              | 5th    |
        | fork a copy       | 3rd    |
        | merge             | 4th    |
        | merge into a copy | 3rd    |

  Rule: A full disk loses nothing

    Scenario Outline: No room to <act>
      Given a sandbox in which the agent has run `head -c 300000 /dev/urandom > large; echo 1 > small`
      And there is a checkpoint, and then the agent has run `rm large; echo 2 > small`
      And a sandbox in which the agent has run `<command>`
      And no file can grow beyond <limit> bytes
      When the user wants to <act>
      Then it fails, because <reason>
      And with room again, everything is as it was and can be done

      Examples:
        | act        | command                                | limit | reason                               |
        | checkpoint | head -c 300000 /dev/urandom > new      | 1000  | The snapshot could not be stored     |
        | checkpoint | echo 3 > small                         | 0     | The snapshot could not be stored     |
        | go back    | true                                   | 1000  | The sandbox could not be restored    |

    Scenario: No room to make a sandbox
      Given a project in which the user has run `true`
      And no file can grow beyond 70 bytes
      When the user wants to begin
      Then it fails, because The sandbox could not be created
      And no sandbox has been left behind

    Scenario: No room for the files of a sandbox
      Given a project in which the user has run `head -c 5000 /dev/zero > large; git add -A; git commit -qm large`
      And no file can grow beyond 4000 bytes
      When the user wants to begin
      Then it fails, because `git reset` failed
      And no sandbox has been left behind

    Scenario: No permission to make a sandbox
      Given a project in which the user has run `mkdir -m 000 ../home`
      And an ordinary user owns it
      When the user wants to begin
      Then it fails, because The sandbox could not be created
      And no sandbox has been left behind

  Rule: What the user may not read is not captured, and not lost

    Scenario Outline: <case>
      Given a sandbox in which the agent has run `<before>`
      And an ordinary user owns it
      When the ordinary user's agent runs `<after>`, and then the sandbox is rolled back
      Then afterwards the agent's `<look>` says `<answer>`
      And what was left alone is <left alone>

      Examples:
        | case                                   | before                                        | after                                                       | look                | answer  | left alone                                        |
        | An unreadable file stays               | echo 1 > f; chmod 000 f                       | echo 2 > g                                                  | cat f; ls g         | 1       | f (permission denied)                             |
        | An unreadable directory stays          | mkdir d; echo 1 > d/f; chmod 000 d            | echo 2 > g                                                  | cat d/f; ls g       | 1       | d/ (permission denied)                            |
        | One that cannot be searched stays      | mkdir -p d/e; echo 1 > d/f; chmod 400 d       | echo 2 > g                                                  | cat d/f; ls g       | 1       | d/e/ (permission denied), d/f (permission denied) |
        | One that came later stays              | true                                          | mkdir d; echo 1 > d/f; chmod 000 d                          | cat d/f             | 1       | d/ (permission denied)                            |
        | Read-only directories are no obstacle  | mkdir -p d/e; echo 1 > d/e/f; chmod 555 d/e d | chmod 755 d d/e; echo 2 > d/e/f; touch d/g; chmod 555 d d/e | cat d/e/f; ls d     | 1 e     | nothing                                           |
        | A read-only sandbox is not an obstacle | chmod 555 .                                   | chmod 755 .; echo 2 > README.md; echo 3 > g; chmod 555 .    | cat README.md; ls g | read me | nothing                                           |
        | One that can no longer be searched     | mkdir -p d/e                                  | chmod 400 d                                                 | ls d                | e       | d/e/ (permission denied)                          |
        | A file without permission to write     | echo 1 > f; chmod 444 f                       | rm -f f; echo 2 > f; chmod 444 f                            | cat f               | 1       | nothing                                           |

    Scenario Outline: <case> is not overwritten
      Given a sandbox in which the agent has run `mkdir d; echo 1 > d/f`
      And an ordinary user owns it
      When the ordinary user's agent runs `<after>`, and then the sandbox is rolled back
      Then it cannot be rolled back, because The rollback would overwrite what no checkpoint holds: <path>, and nothing has been touched

      Examples:
        | case                               | after                             | path |
        | A file that became unreadable      | echo 2 > d/f; chmod 000 d/f       | d/f  |
        | A directory that became unreadable | echo 2 > d/f; chmod 000 d         | d/   |

    Scenario: A sandbox that may not be read at all
      Given a sandbox in which the agent has run `chmod 300 .`
      And an ordinary user owns it
      When the user wants to checkpoint
      Then it fails, because The sandbox cannot be read

  Rule: Files may be written to while they are read

    Scenario Outline: A process <acts> all the time
      Given a sandbox in which a process <acts>
      When the user wants to checkpoint
      Then it succeeds, and the checkpoint is whole

      Examples:
        | acts                              |
        | appends to a small file           |
        | rewrites a large file             |
        | makes and removes files           |
        | makes and removes directories     |
        | swaps a file for a directory      |

    Scenario Outline: <case> between two looks at it
      Given a sandbox in which the agent has run `head -c 2000000 /dev/zero > large; mkdir -p gone/d; touch gone/f small`
      And something happens while it is read: <case>
      When the user wants to checkpoint
      Then it succeeds, and the checkpoint is whole

      Examples:
        | case                                   |
        | a small file grows once                |
        | a small file grows whenever it is read |
        | a large file grows once                |
        | a file changes but not its size        |
        | a file is replaced once                |
        | a large file changes before it is stored |
        | a large file vanishes before it is stored |
        | listed files and directories vanish    |
        | a listed directory vanishes later      |

    Scenario: Large files that never stop changing
      Given a sandbox in which the agent has run `true`
      And something happens while it is read: one file after the other changes
      When the user wants to checkpoint
      Then it fails, because files of the sandbox keep changing
