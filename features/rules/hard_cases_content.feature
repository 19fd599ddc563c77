@disk
Feature: Bytes stay bytes
  Attributes and settings tell git to convert files. Snapshots hold what is on disk, unconverted.

  Scenario Outline: <case>
    Given a project in which the user has run `<setting>`
    And a sandbox in which the agent has run `<before>`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone

    Examples:
      | case                          | setting                                                                 | before                            | after                             |
      | All endings under text=auto   | echo '* text=auto' > .gitattributes; git add -A; git commit -qm a       | printf 'a\r\nb\n' > f; printf '\r' > g | printf 'a\nb\n' > f; rm g    |
      | LF under eol=crlf             | echo '* eol=crlf' > .gitattributes; git add -A; git commit -qm a        | printf 'a\n' > f                  | printf 'a\r\n' > f                |
      | LF under core.autocrlf=true   | git config core.autocrlf true                                           | printf 'a\n' > f; git add f       | printf 'a\r\n' > f                |
      | CRLF under core.autocrlf=input | git config core.autocrlf input                                         | printf 'a\r\n' > f; git add f     | printf 'a\n' > f                  |
      | An expanded keyword           | echo '* ident' > .gitattributes; git add -A; git commit -qm a           | printf '$Id: x $\n' > f; git add f | printf '$Id$\n' > f              |
      | Another encoding              | echo '*.u working-tree-encoding=UTF-16' > .gitattributes; git add -A; git commit -qm a | printf 'a' \| iconv -t UTF-16 > f.u; git add f.u | printf 'x' > f.u |
      | Attributes of the agent's own | true                                                                    | echo '* eol=crlf ident' > .gitattributes; printf '$Id$\n' > f; git add -A | printf '$Id$\r\n' > f; rm .gitattributes |
      | Attributes in the mirror      | true                                                                    | d=$(git rev-parse --git-common-dir); mkdir -p $d/info; echo '* eol=crlf' > $d/info/attributes; printf 'a\n' > f | printf 'a\r\n' > f |
      | Modes that do not count       | git config core.fileMode false                                          | touch f; chmod 755 f; git add f   | chmod 600 f run.sh                |

  Scenario Outline: A sandbox starts with the files as the user's git would check them out: <case>
    Given a project in which the user has run `<setting>`
    When the agent looks at its new sandbox
    Then it finds just what a fresh checkout of the user's holds

    Examples:
      | case                 | setting                                                                                  |
      | CRLF by attribute    | echo '*.md eol=crlf' > .gitattributes; git add -A; git commit -qm a                      |
      | CRLF by setting      | git config core.autocrlf true                                                            |
      | Expanded keywords    | printf '$Id$\n' > k; echo 'k ident' > .gitattributes; git add -A; git commit -qm a        |
      | Another encoding     | echo 'k working-tree-encoding=UTF-16LE' > .gitattributes; printf 'a\000' > k; git add -A; git commit -qm a |
      | A link and a program | ln -s README.md link; git add -A; git commit -qm a                                       |
