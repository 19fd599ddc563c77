@disk
Feature: Any kind of file, and any swap of kinds
  What stands at a path may become something else. A rollback turns it back, and never follows it.

  Scenario Outline: <case>
    Given a sandbox in which the agent has run `<before>`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone

    Examples: Swaps
      | case                                   | before                                   | after                                             |
      | A file becomes a directory             | echo 1 > x                               | rm x; mkdir x; echo 2 > x/new                     |
      | A file becomes an empty directory      | echo 1 > x                               | rm x; mkdir x                                     |
      | A directory becomes a file             | mkdir -p x/y/z; echo 1 > x/y/z/f         | rm -r x; echo 2 > x                               |
      | A file becomes a link                  | echo 1 > x                               | rm x; ln -s README.md x                           |
      | A link becomes a file                  | ln -s README.md x                        | rm x; echo 1 > x                                  |
      | A link becomes a directory             | ln -s src x                              | rm x; mkdir x; echo 1 > x/new                     |
      | A directory becomes a link             | mkdir x; echo 1 > x/f                    | rm -r x; ln -s src x                              |
      | A tracked directory becomes a link     | true                                     | rm -r src; ln -s .. src                           |
      | A deep swap in both directions         | mkdir -p a/b; echo 1 > a/b/c; echo 2 > d | rm -r a; echo 3 > a; rm d; mkdir -p d/b; touch d/b/c |
      | Two files change places                | echo 1 > a; echo 2 > b                   | mv a c; mv b a; mv c b                            |
      | Two directories change places          | mkdir a b; echo 1 > a/f; echo 2 > b/f    | mv a c; mv b a; mv c b                            |
      | A file becomes another's hard link     | echo 1 > a; echo 2 > b                   | ln -f a b                                         |

    Examples: Links
      | case                                   | before                                   | after                                             |
      | A link changes its target              | ln -s a x                                | rm x; ln -s b x                                   |
      | A link to itself                       | ln -s x x                                | rm x                                              |
      | A dangling link                        | ln -s nowhere x                          | touch nowhere                                     |
      | A link to the top and above            | ln -s . a; ln -s .. b; ln -s / c         | rm a b c                                          |
      | A target that is not UTF-8             | ln -s "$(printf '\377\n')" x             | rm x                                              |
      | A very long target                     | ln -s $(printf '%04000d' 0) x            | rm x                                              |

    Examples: Directories
      | case                                   | before                                   | after                                             |
      | An empty directory is removed          | mkdir -p a/b/c                           | rmdir a/b/c                                       |
      | An empty directory is filled           | mkdir a                                  | echo 1 > a/f                                      |
      | A directory is emptied                 | mkdir a; echo 1 > a/f                    | rm a/f                                            |
      | Empty directories appear               | true                                     | mkdir -p a/b/c d                                  |
      | Everything is removed                  | mkdir e                                  | rm -rf -- *                                       |

    Examples: Contents
      | case                                   | before                                   | after                                             |
      | A file is emptied                      | echo 1 > a                               | : > a                                             |
      | A file of zeros                        | head -c 100000 /dev/zero > a             | head -c 99999 /dev/zero > a                       |
      | A larger file                          | head -c 3000000 /dev/urandom > a         | head -c 3000000 /dev/urandom > a                  |
      | A sparse file                          | truncate -s 50M a                        | truncate -s 10M a                                 |
      | Same size and same time                | echo 1 > a; touch -d @1 a                | echo 2 > a; touch -d @1 a                         |
      | A time in the future                   | echo 1 > a; touch -d '2099-01-01' a      | echo 2 > a; touch -d '2099-01-01' a               |
      | A time before 1970                     | echo 1 > a; touch -d '1901-12-14' a      | echo 2 > a; touch -d '1901-12-14' a               |

  Scenario: A directory that was replaced by a link does not lead a rollback outside
    Given a sandbox in which the agent has run `mkdir x; echo mine > x/f`
    When the agent runs `echo theirs > "$OUTSIDE/f"; rm -r x; ln -s "$OUTSIDE" x`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone
    And the file outside still holds `theirs`

  Scenario: A file with another name outside is not written into
    Given a sandbox in which the agent has run `echo mine > f`
    When the agent runs `echo theirs > "$OUTSIDE/f"; ln -f "$OUTSIDE/f" f`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone
    And the file outside still holds `theirs`

  Scenario: Special files are named and stay
    Given a sandbox in which the agent has run `mkfifo pipe; mkdir d; mkfifo d/pipe`
    When the agent runs `echo 1 > new; rm README.md`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone
    And the checkpoint says it did not capture d/pipe (special file: fifo), pipe (special file: fifo)

  Scenario: A socket is named and stays
    Given a sandbox in which the agent has run `mkdir d; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("d/s")'`
    When the agent runs `echo 1 > d/new; rm README.md`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone
    And the checkpoint says it did not capture d/s (special file: socket)

  Scenario Outline: A FIFO <place> gives way, and comes back when that is undone
    Given a sandbox in which the agent has run `echo 1 > f; mkdir d; mkdir -p e/in; echo 1 > e/in/x`
    When the agent runs `<command>`, and then the sandbox is rolled back
    Then what was left alone is nothing
    And the sandbox is exactly as it was, and so it is when that is undone

    Examples:
      | place                          | command                                           |
      | where a file was               | rm f README.md; mkfifo f; mkfifo -m 600 README.md |
      | where a directory was          | rmdir d; mkfifo -m 444 d                          |
      | above a file                   | rm -r e/in; mkfifo e/in                           |
      | in a directory that was a file | rm f; mkdir -p f/in; mkfifo f/in/p; echo 1 > f/x  |

  Scenario: A FIFO beside a file that comes back stays
    Given a sandbox in which the agent has run `mkdir x; echo 1 > x/f`
    When the agent runs `rm x/f; mkfifo x/pipe`, and then the sandbox is rolled back
    Then what was left alone is x/pipe (special file: fifo)
    And afterwards the agent's `ls x` says `f pipe`

  Scenario: A FIFO is not made where something ignored is
    Given a sandbox in which the agent has run `mkdir c; mkfifo c/p`
    When the agent runs `rm -r c; echo c > .gitignore; mkdir c; echo precious > c/p`, and then the sandbox is rolled back
    Then afterwards the agent's `cat c/p` says `precious`
