@disk
Feature: Every permission bit
  git knows two modes. A rollback restores all of them, of files, of directories and of the sandbox.

  Scenario Outline: <case>
    Given a sandbox in which the agent has run `<before>`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone

    Examples:
      | case                                     | before                                                  | after                                    |
      | Modes that git does not know             | for m in 600 640 444 400 755 711; do touch $m; chmod $m $m; done | chmod 644 6* 4* 7*              |
      | Nobody may do anything                   | touch f; mkdir d; touch d/f; chmod 000 f d/f d          | chmod 644 f; chmod 755 d                 |
      | Setuid, setgid and sticky                | touch f; mkdir d; chmod 6755 f; chmod 3777 d            | chmod 755 f d                            |
      | Only the mode of a tracked file changes  | true                                                    | chmod 755 README.md; chmod 644 run.sh    |
      | A mode and the bytes change              | echo 1 > f; chmod 600 f                                 | echo 2 > f; chmod 755 f                  |
      | Files in a read-only directory           | mkdir d; echo 1 > d/f; chmod 555 d                      | chmod 755 d; echo 2 > d/f; echo 3 > d/g; chmod 555 d |
      | A read-only directory in another         | mkdir -p d/e; touch d/e/f; chmod 555 d/e d              | chmod 755 d d/e; rm -r d/e; chmod 500 d  |
      | Only the inner of two closed directories | mkdir -p d/e; chmod 700 d/e; chmod 555 d                | chmod 755 d/e                            |
      | A closed directory becomes a file        | mkdir d; touch d/f; chmod 500 d                         | rm -rf d; echo 1 > d                     |
      | A file becomes a closed directory        | echo 1 > d                                              | rm d; mkdir d; touch d/f; chmod 500 d    |
      | The sandbox itself is closed             | chmod 555 .                                             | chmod 755 .; echo 1 > f; rm README.md    |
      | The sandbox itself becomes closed        | chmod 750 .                                             | echo 1 > f; chmod 555 .                  |
      | Files of another owner                   | echo 1 > f; mkdir d; chown 65534 f d \|\| true           | echo 2 > f; chmod 700 d; rm README.md    |
      | A empty directory's mode                 | mkdir -m 700 d                                          | chmod 755 d                              |
