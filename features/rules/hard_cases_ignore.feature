@disk
Feature: What ignore rules leave out stays as it is
  Ignored files are not captured, so no rollback may change or delete one.

  Background:
    Given a sandbox in which the agent has run `printf '*.log\n/cache/\n' > .gitignore`

  Scenario Outline: <case>
    Given a sandbox in which the agent has run `<before>`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then afterwards the agent's `<look>` says `<answer>`
    And what was left alone is <left alone>

    Examples: They survive
      | case                                       | before                            | after                                    | look                    | answer         | left alone                                              |
      | One that was changed                       | echo 1 > a.log                    | echo 2 > a.log; echo 3 > b               | cat a.log; ls b         | 2              | a.log (ignored)                                         |
      | One that was made                          | true                              | echo 2 > a.log; echo 3 > b               | cat a.log; ls b         | 2              | a.log (ignored)                                         |
      | One that was deleted stays deleted         | echo 1 > a.log                    | rm a.log; echo 3 > b                     | ls a.log b              | nothing        | nothing                                                 |
      | A directory of them                        | mkdir cache; echo 1 > cache/x     | echo 2 > cache/x; echo 3 > cache/y       | cat cache/*             | 2 3            | cache/ (ignored)                                        |
      | Empty directories in an ignored one        | mkdir -p cache/e                  | mkdir -p cache/f; echo 3 > b             | ls cache b              | cache: e f     | cache/ (ignored)                                        |
      | In a directory that came later             | true                              | mkdir d; echo 1 > d/a.log; echo 2 > d/b  | ls d                    | a.log          | d/a.log (ignored)                                       |

    Examples: The rules themselves change
      | case                                       | before                            | after                                    | look                    | answer         | left alone                                              |
      | A rule is dropped, and the file captured   | echo 1 > a.log                    | echo > .gitignore; echo 2 > a.log        | cat a.log               | 2              | a.log (not captured when the checkpoint was made)       |
      | A rule is dropped, with a directory        | mkdir -p cache/e; touch cache/x   | echo > .gitignore; touch cache/y         | ls cache                | e x y          | cache/x (not captured when the checkpoint was made), cache/y (not captured when the checkpoint was made) |
      | A rule is added, and the file changed      | echo 1 > a.txt                    | echo '*.txt' > .gitignore; echo 2 > a.txt | cat a.txt              | 1              | nothing                                                 |
      | A rule is added, and the file deleted      | echo 1 > a.txt                    | echo '*.txt' > .gitignore; rm a.txt      | cat a.txt               | 1              | nothing                                                 |
      | A rule for everything                      | echo 1 > a                        | echo '*' > .gitignore; echo 2 > a; echo 3 > b | cat a b            | 1 3            | b (ignored)                                             |
      | A rule for a directory with captured files | mkdir d; echo 1 > d/a             | echo d/ > .gitignore; echo 2 > d/a; mkdir d/n; echo 3 > d/n/x | cat d/a d/n/x | 1 3    | d/n/ (ignored)                                          |
      | A rule for a directory that was empty      | mkdir d                           | echo d/ > .gitignore; echo 2 > d/a       | cat d/a                 | 2              | d/a (ignored)                                           |

    Examples: Rules of every kind
      | case                                       | before                            | after                                    | look                    | answer         | left alone                                              |
      | A file beside ignored ones goes            | mkdir d; echo 1 > d/a.log         | echo 2 > d/b                             | ls d                    | a.log          | d/a.log (ignored)                                       |
      | A negated rule                             | echo '!k.log' >> .gitignore; echo 1 > k.log | echo 2 > k.log                 | cat k.log               | 1              | nothing                                                 |
      | A nested rule file                         | mkdir d; echo '!*.log' > d/.gitignore; echo 1 > d/a.log | echo 2 > d/a.log   | cat d/a.log             | 1              | nothing                                                 |
      | A tracked file that a rule names           | echo 1 > t.log; git add -f t.log  | echo 2 > t.log                           | cat t.log               | 1              | nothing                                                 |
      | A rule file that is a link                 | ln -s ../outside d; rm .gitignore; ln -s README.md .gitignore; echo 1 > a.log | rm a.log | cat a.log        | 1              | nothing                                                 |
      | A directory of magic                       | echo ':(top)d/' > .gitignore; mkdir ':(top)d'; touch ':(top)d/f' | touch b    | ls b                    | nothing        | :(top)d/ (ignored)                                      |

  Scenario Outline: An ignored file in the way is never overwritten: <case>
    Given a sandbox in which the agent has run `<before>`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then it cannot be rolled back, because The rollback would overwrite what no checkpoint holds: <path>, and nothing has been touched

    Examples:
      | case                          | before               | after                                    | path    |
      | below what was a file         | echo 1 > x           | rm x; mkdir x; echo 2 > x/a.log          | x/a.log |
      | where a directory was         | mkdir x.log; touch x.log/f; git add -f x.log | rm -r x.log; git rm -q --cached x.log/f; echo 2 > x.log | x.log |
