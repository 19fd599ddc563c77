Feature: What things take on disk
  Counted is what removing would give back.

  Rule: a file counts once, and only if all its names are there

    Scenario Outline: <what>
      Given a directory made by `<command>`
      When its disk use is measured
      Then it takes <size> bytes

      Examples:
        | what                                   | command                                                          | size  |
        | nothing                                | true                                                             | 0     |
        | a file                                 | head -c 8192 /dev/urandom > f                                    | 8192  |
        | a file below a directory               | mkdir -p d/e; head -c 8192 /dev/urandom > d/e/f                  | 8192  |
        | two files and a link                   | for f in f g; do head -c 8192 /dev/urandom > $f; done; ln -s f h | 16384 |
        | a file with two names, both there      | mkdir d; head -c 8192 /dev/urandom > f; ln f d/g                 | 8192  |
        | a file with two names, one of them not | head -c 8192 /dev/urandom > f; ln f ../elsewhere                 | 0     |

  Rule: what is mounted counts where its own bytes are

    Scenario: An overlay takes what was written to it
      Given an overlay of a directory made by `head -c 100000 /dev/urandom > f`
      And the agent has run `head -c 8192 /dev/urandom > g` there
      When the disk use of all sandboxes is measured
      Then they take what the layer of the overlay takes

    Scenario: An overlay that no plan has is removed, and nothing below it
      Given an overlay of a directory made by `mkdir d; echo 1 > d/f`
      When the sandbox is removed as one that no plan has
      Then no trace of it is left, and the directory is as it was
