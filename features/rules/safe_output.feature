Feature: Output is safe and colours are a choice
  Names in a repository are data. None of them may move the cursor, change a colour, hide
  text or break a record.

  Rule: what a terminal would obey is shown, not sent

    Scenario Outline: A hostile name is shown as what it is
      When the user runs "agents sample hostile --format <format> --color always"
      Then the exit code is 0
      And the output says "<shown>"
      And no name in the output can steer a terminal

      Examples:
        | format | shown                                           |
        | rich   | a\x1b[31m\tb\nc\[red]\xff\u202e\u2028é\r        |
        | color  | a\x1b[31m\tb\nc\[red]\xff\u202e\u2028é\r        |
        | table  | a\x1b[31m\tb\nc\[red]\xff\u202e\u2028é\r        |
        | plain  | a\x1b[31m\tb\nc\\[red]\xff\u202e\u2028é\r       |

    Scenario Outline: A document gives the name back exactly
      When the user runs "agents sample hostile --format <format>"
      Then the output is ASCII
      And the <notation> document has
        | field     | value                                                  |
        | data.name | "a\u001b[31m\tb\nc\\[red]\udcff\u202e\u2028\u00e9\r" |

      Examples:
        | format | notation |
        | json   | JSON     |
        | yaml   | YAML     |

  Rule: colour follows the option, then the environment, then the terminal

    Scenario Outline: Colour in rich output on a terminal
      Given the user sits before a terminal
      And the variable <variable> is "<value>"
      When the user runs "agents sample report --format rich --color <option>"
      Then the output is <appearance>

      Examples:
        | variable    | value | option | appearance |
        | TERM        | xterm | auto   | coloured   |
        | TERM        | dumb  | auto   | colourless |
        | NO_COLOR    | 1     | auto   | colourless |
        | NO_COLOR    | 1     | always | coloured   |
        | FORCE_COLOR | 1     | never  | colourless |

    Scenario Outline: Colour in a pipe
      Given the variable <variable> is "<value>"
      When the user runs "agents sample report --format <format> --color <option>"
      Then the output is <appearance>

      Examples:
        | format | variable    | value | option | appearance |
        | rich   | TERM        | xterm | auto   | colourless |
        | rich   | FORCE_COLOR | 1     | auto   | coloured   |
        | color  | TERM        | xterm | auto   | coloured   |
        | color  | TERM        | dumb  | auto   | colourless |
        | color  | NO_COLOR    | 1     | auto   | colourless |
        | color  | TERM        | xterm | never  | colourless |
        | table  | FORCE_COLOR | 1     | always | colourless |
        | plain  | FORCE_COLOR | 1     | always | colourless |

    Scenario: Errors are coloured by the same rules
      Given the variable FORCE_COLOR is "1"
      When the user runs "agents sample fail busy"
      Then the error output is coloured
