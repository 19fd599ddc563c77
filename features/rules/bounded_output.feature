Feature: Output of limited size
  The beginning and the end of a long output are kept, and which parts of it were written to
  standard error.

  Scenario Outline: <what>
    When a program prints <pieces>
    Then the kept output is <text>
    And <marked> came from standard error

    Examples:
      | what                             | pieces                  | text            | marked     |
      | one stream                       | out:ab, out:cd          | abcd            | nothing    |
      | both streams                     | out:ab, err:cd, out:ef  | abcdef          | cd         |
      | a character in two reads         | out:\xc3, out:\xa9      | é               | nothing    |
      | a character that is cut          | out:\xc3, err:x         | \ufffdx         | x          |

  Scenario: A long output loses its middle
    When 300 KB are printed to each stream in turn, a byte at a time
    Then the kept output says how much was left out
    And the marked parts are exactly those of standard error

  Scenario: A spinner leaves nothing behind
    When a spinner has turned at least once and is stopped
    Then the last thing it wrote clears its line
