Feature: Output formats
  One result, six ways to show it. The format comes from the option, before or after the
  command, then CLEVERAGENTS_FORMAT, then core.format; else it is rich on a terminal and plain
  elsewhere.

  Rule: every format shows the same report

    Scenario: Plain is records and nothing else
      When the user runs "agents sample report --format plain"
      Then the output says "id	P1"
      And the output says "日本.txt	added"
      And the output does not say "Files"
      And the error output is
        """
        Rollback complete
        """

    Scenario: Table draws grids that line up
      When the user runs "agents sample report --format table"
      Then the output is
        """
        Plan
        +------+--------+
        | id   | P1     |
        | path | /tmp/x |
        +------+--------+

        Files
        +----------+----------+
        | Path     | Change   |
        +----------+----------+
        | app.py   | modified |
        | 日本.txt | added    |
        +----------+----------+

        Effects
        No effects.

        Changes
        diff --git a/app.py b/app.py
        --- a/app.py
        +++ b/app.py
        @@ -1,2 +1,2 @@
        -print("old")
        +print("new")
         # end

        Notes
        one
        	two

        OK Rollback complete
        """

    Scenario: Rich draws panels
      When the user runs "agents sample report --format rich"
      Then the output says "╭─ Plan ──"
      And the output says "│ app.py   │ modified │"
      And the output says "No effects."
      And the output says "+print("new")"
      And the output says "OK Rollback complete"

    Scenario Outline: A document holds the data and how it went
      When the user runs "agents -f plain sample report -f <format>"
      Then the exit code is 0
      And the error output is empty
      And the <notation> document has
        | field     | value                                                                     |
        | command   | "sample report"                                                           |
        | status    | "ok"                                                                      |
        | exit_code | 0                                                                         |
        | data.files | [["app.py", "modified"], ["日本.txt", "added"]]                          |
        | messages  | ["Rollback complete"]                                                     |

      Examples:
        | format | notation |
        | json   | JSON     |
        | yaml   | YAML     |

    Scenario Outline: A failed plan is still in the document
      When the user runs "agents sample fail 'failed plan' --format <format>"
      Then the exit code is 8
      And the <notation> document has
        | field         | value             |
        | status        | "error"           |
        | data          | {"plan_id": "P1"} |
        | error.code    | "plan_failed"     |
        | error.message | "Step 2 failed"   |
        | error.hint    | null              |
        | error.details | {"step": 2}       |

      Examples:
        | format | notation |
        | json   | JSON     |
        | yaml   | YAML     |

    Scenario Outline: A report of something lost is not called OK
      When the user runs "agents sample lost --format <format>"
      Then the exit code is 7
      And the output says "2 snapshots are gone"
      And the output does not say "OK"

      Examples:
        | format |
        | rich   |
        | color  |
        | json   |

    Scenario Outline: Nothing to show is nothing printed
      When the user runs "agents sample quiet --format <format>"
      Then the exit code is 0
      And the output is empty

      Examples:
        | format |
        | rich   |
        | color  |
        | table  |
        | plain  |

    Scenario: What no document can hold is a bug, not a guess
      When the user runs "agents sample unprintable --format json"
      Then the exit code is 70
      And the JSON document has
        | field      | value |
        | error.code | "bug" |

    Scenario Outline: Every time in a document is written the same way
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user runs "agents <command> --format json"
      Then every time in the document is in UTC with six decimals

      Examples:
        | command                      |
        | plan status @latest          |
        | plan log @latest             |
        | plan checkpoint list @latest |

  Rule: the format is found in a fixed order

    Scenario Outline: The format in force
      Given the variable CLEVERAGENTS_FORMAT is "<variable>"
      When the user runs "agents <options> sample inner where <more>"
      Then the output says "<sign>"

      Examples:
        | variable | options     | more        | sign          |
        | table    |             |             | +---------+-- |
        | json     | -f table    |             | +---------+-- |
        | json     | -f plain    | -f table    | +---------+-- |
        | json     |             |             | "status"      |
        | table    | --color never | -f rich   | ╭─ Here ─     |

    Scenario: A terminal gets rich output
      Given the user sits before a terminal
      When the user runs "agents sample inner where"
      Then the output says "╭─"
