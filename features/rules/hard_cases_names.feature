@disk
Feature: Any name that a file system takes
  Names are bytes. Each of these has misled some tool that reads them as text, lines or patterns.

  Scenario Outline: A name with <oddity>
    Given a sandbox in which the agent has run `<before>`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone

    Examples:
      | oddity                   | before                             | after                             |
      | a newline                | printf x > "$(printf 'new\nline')" | printf y > "$(printf 'new\nline')"; printf z > new |
      | nothing but a newline    | mkdir "$(printf '\nx')"; touch "$(printf '\nx/\ny')" | rm -r "$(printf '\nx')"           |
      | a tab                    | touch "$(printf 'a\tb')"           | rm "$(printf 'a\tb')"             |
      | a space in front         | touch ' lead'                      | mv ' lead' lead                   |
      | a space at the end       | touch 'trail '                     | mv 'trail ' trail                 |
      | a dash in front          | touch ./-rf                        | rm ./-rf; touch ./--help          |
      | quotation marks          | touch "it's" 'say "hi"'            | rm "it's" 'say "hi"'              |
      | a backslash              | touch 'back\slash'                 | rm 'back\slash'; touch back       |
      | wildcards                | touch '*' '?' '[ab]'               | rm '*'; touch a b                 |
      | pathspec magic           | touch ':(glob)x' ':!y' ':z'        | rm -- :*                          |
      | magic in a directory     | mkdir ':(top)d'; touch ':(top)d/f' | rm -r ':(top)d'                   |
      | control characters       | touch "$(printf 'a\001\033[31mb')" | rm a*                             |
      | bytes that are not UTF-8 | mkdir "$(printf 'd\377')"; echo 1 > "$(printf 'd\377/\376')" | echo 2 > "$(printf 'd\377/\376')" |
      | a broken surrogate       | touch "$(printf '\355\260\200')"   | rm "$(printf '\355\260\200')"     |
      | two forms of one letter  | echo 1 > "$(printf '\303\251')"; echo 2 > "$(printf 'e\314\201')" | rm "$(printf 'e\314\201')"        |
      | two cases of one letter  | echo 1 > a; echo 2 > A             | rm A                              |
      | 255 bytes                | touch $(printf '%0255d' 0)         | rm $(printf '%0255d' 0); touch $(printf '%0254d' 0) |
      | a meaning elsewhere      | touch 'CON' 'a.' 'nul.txt'         | rm 'CON'                          |
      | our own temporary prefix | touch .cleveragents-restore-notes  | rm .cleveragents-restore-notes; mkdir .cleveragents-restore-0123456789abcdef |
      | a look of git's own      | make files with names that look like .git | rm -r .GIT 'git~1' d; rm "$(printf '.g\342\200\214it')"; touch .giT |
      | a name like git's        | mkdir .github .gitx; touch .git.lock .gitx/HEAD | rm -r .gitx; touch .git-x         |

  Scenario Outline: A tree with <size>
    Given a sandbox in which the agent has run `<before>`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone

    Examples:
      | size                       | before                                                             | after        |
      | 1,000 directories deep     | p=d; for i in $(seq 999); do p=$p/d; done; mkdir -p $p; touch $p/f | rm -rf d     |
      | more paths than fit a call | mkdir many; cd many; seq -f 'a-rather-long-name-for-a-file-%g' 4000 \| xargs touch | rm -r many   |
      | a path of 3,500 bytes      | n=$(printf '%0250d' 0); p=$n; for i in $(seq 13); do p=$p/$n; done; mkdir -p $p; touch $p/f | rm -rf 0*    |
      | nothing in it              | rm -rf -- * .??*/                                                  | echo 1 > one |

  Scenario: A name that git would not take
    Given a sandbox in which the agent has run `echo 1 > 'git~1'`
    When the agent runs `rm 'git~1'`, and then the sandbox is rolled back
    Then afterwards the agent's `cat 'git~1'` says `1`
