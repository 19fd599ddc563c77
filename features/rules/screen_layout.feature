Feature: How text fits a screen
  Text wraps at words. Code in backquotes, ids and commands stay in one piece, and an ellipsis marks
  whatever is left out.

  Scenario Outline: Text is wrapped at words: <text>
    When "<text>" is wrapped to <columns> columns
    Then its lines are <lines>

    Examples:
      | text                               | columns | lines                                    |
      | fits                               | 20      | fits                                     |
      | one two three                      | 7       | one two / three                          |
      | run `agents plan undo` now         | 18      | run / `agents plan undo` / now           |
      | or (`agents plan undo`), then stop | 24      | or (`agents plan undo`), / then stop     |
      | /a/path/that/is/too/long to break  | 10      | /a/path/that/is/too/long / to break      |
      | __two words, indented              | 13      | __two words, / __indented                |
      | 日本 日本                          | 5       | 日本 / 日本                              |

  Scenario Outline: A value that is too long is marked: <text>
    When "<text>" is cut to <columns> columns at its <end>
    Then its lines are <lines>

    Examples:
      | text           | columns | end   | lines    |
      | short          | 8       | end   | short    |
      | a long name    | 8       | end   | a long…  |
      | /a/b/c/project | 8       | start | …project |
      | 日本語日本語   | 6       | end   | 日本…    |

  Scenario Outline: What is shown can be typed: <text>
    When "<text>" is read as the name of a file
    Then it is shown as "<text>" again, and has <characters> characters

    Examples:
      | text          | characters |
      | a\nb\tc\rd    | 7          |
      | \xff\x1b      | 2          |
      | \u200d\U000e0041 | 2        |
      | plain         | 5          |

  Scenario Outline: A list on <columns> columns
    When a list with ids, names, times and sizes is fitted into <columns> columns
    Then its lines are <lines>

    Examples:
      | columns | lines |
      | any     | Id____Name________________________Time______Size__Used / ABCD__a_name_that_is_rather_long__12:30:00__1_KB__2_KB |
      | 55      | Id____Name________________________Time______Size__Used / ABCD__a_name_that_is_rather_long__12:30:00__1_KB__2_KB |
      | 52      | Id____Name________________________When___Size__Used / ABCD__a_name_that_is_rather_long__12:30__1_KB__2_KB |
      | 48      | Id____Name____________________When___Size__Used / ABCD__a_name_that_is_rather…__12:30__1_KB__2_KB |
      | 40      | Id____Name___________________When___Size / ABCD__a_name_that_is_rathe…__12:30__1_KB / Not shown on this narrow screen: Used |
      | 24      | Id____Name_________When / ABCD__a_name_tha…__12:30 / Not shown on this narrow screen: Size, Used |
      | 4       | Id____Name____When / ABCD__a_nam…__12:30 / Not shown on this narrow screen: Size, Used |

  Scenario Outline: Commands on <columns> columns
    When what the user can do is shown on <columns> columns
    Then its lines are <lines>

    Examples:
      | columns | lines                                                                            |
      | any     | __Undo it______________agents plan undo P / __Continue from there__agents plan execute P |
      | 60      | __Undo it______________agents plan undo P / __Continue from there__agents plan execute P |
      | 30      | __Undo it / ____agents plan undo P / __Continue from there / ____agents plan execute P  |

  Scenario Outline: A screen is as wide as <source>
    Then the screen of a <stream> where COLUMNS is <columns> has <width> columns

    Examples:
      | source             | columns | stream   | width   |
      | COLUMNS says       | 132     | file     | 132     |
      | usual              | unset   | terminal | 80      |
      | nobody knows       | unset   | file     | unknown |
      | COLUMNS cannot say | wide    | file     | unknown |
