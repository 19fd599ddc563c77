Feature: Stopping a tool that runs Python
  A first Ctrl-C is a wish: what runs in a process of its own, or in a database, ends at once.

  Background:
    Given the package acme 1.2 offers the tool long-sleep as acme_tools:long_sleep
    And a database of people

  Scenario Outline: The user stops <tool>
    When the user stops <tool> with `<input>`
    Then the tool was interrupted because <reason>

    Examples:
      | tool       | input                                    | reason                                       |
      | long-sleep | {}                                       | `long-sleep` was interrupted and stopped       |
      | search-files | {"pattern": "^(a+)+$", "path": "evil"} | `search-files` was interrupted and stopped     |
      | sql        | {"statement": "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r"} | `sql` was interrupted; nothing was changed |

  Scenario: A tool dies with the program that runs it
    When the program is killed while long-sleep runs
    Then none of its processes is left
