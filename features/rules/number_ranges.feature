Feature: Numbers as ranges
  Which tool calls are in effect is kept as ranges of their numbers: short, however many there are.

  Scenario Outline: <numbers>
    When the numbers <numbers> are kept as ranges, up to <last>
    Then the ranges are <ranges>
    And what is missing is <missing>

    Examples:
      | numbers     | last | ranges       | missing  |
      | nothing     | 0    | nothing      | nothing  |
      | nothing     | 3    | nothing      | 1-3      |
      | 1           | 1    | 1-1          | nothing  |
      | 1 2 3       | 3    | 1-3          | nothing  |
      | 3 1 2 2     | 5    | 1-3          | 4-5      |
      | 2 4 5 9     | 9    | 2-2 4-5 9-9  | 1-1 3-3 6-8 |
      | 5           | 6    | 5-5          | 1-4 6-6  |
