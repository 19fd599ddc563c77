Feature: Output and input of tools
  What a tool says is kept within bounds, and what it is given is checked.

  Rule: output is bounded

    Scenario: Much output keeps its beginning and its end
      When the command `yes | head -c 2000000` runs
      Then the output is cut, and says that 1737856 bytes were left out

    Scenario: A daemon that keeps writing does not keep the tool
      When the command `setsid sh -c 'echo $$ > pid.txt; exec yes' & while ! test -s pid.txt; do sleep 0.01; done` runs
      Then none of its processes is left

    Scenario: Output may end while the command continues
      When the command `exec >&- 2>&-; sleep 0.2; echo done > done.txt` runs
      Then the file done.txt holds "done\n"

    Scenario: Bytes that are no text become a sign for that
      When the command `printf 'a\377b\000c'` runs
      Then the output is "a\ufffdb\ufffdc"

  Rule: a tool of the plan gets its inputs as words

    Scenario Outline: Whatever is in an input, it is one word and never a command
      When a tool of the plan runs `printf '%s.' {{ first }} {{ second }}` with
        | input  | value   |
        | first  | <value> |
        | second | x       |
      Then the output is "<value>.x."

      Examples:
        | value                |
        | hello                |
        | two words            |
        | $(touch hacked)      |
        | '; touch hacked; '   |
        | `touch hacked`       |
        | $HOME *              |
        | a\nb                 |
        | {{ second }}         |

    Scenario: An input that no process can be given
      When a tool of the plan runs `echo {{ first }}` with
        | input | value |
        | first | a\0b  |
      Then the tool fails because `my-tool` cannot start: embedded null byte

  Rule: input is checked before a tool runs

    Scenario Outline: Input that the tool does not declare
      When the tool `<tool>` runs with `<input>`
      Then the tool fails because <reason>

      Examples:
        | tool       | input                            | reason                              |
        | read-file  | {}                               | `read-file` needs the input `path`  |
        | read-file  | {"path": "a", "size": 3}         | `read-file` has no input `size`     |
        | read-file  | {"path": 3}                      | `path` must be text                 |
        | shell      | {"command": "x", "timeout": "3"} | `timeout` must be a whole number    |

    Scenario: A tool that does not exist
      When a tool runs that nobody has
      Then the tool fails because There is no tool `teleport`

    Scenario: A tool cannot say that it only reads and that it writes
      When a tool is declared that only reads and that writes
      Then the declaration is refused
