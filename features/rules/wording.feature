Feature: Counts, lists and sizes in messages
  All messages write them the same way.

  Scenario Outline: <count> bytes
    Then <count> bytes are written as <text>

    Examples:
      | count            | text     |
      | 0                | 0 B      |
      | 1023             | 1023 B   |
      | 1024             | 1.0 KB   |
      | 4000             | 3.9 KB   |
      | 1048576          | 1.0 MB   |
      | 1610612736       | 1.5 GB   |
      | 1125899906842624 | 1024.0 TB |

  Scenario Outline: <count> of something
    Then <count> of <noun> is written as <text>

    Examples:
      | count | noun              | text        |
      | 0     | file              | 0 files     |
      | 1     | file              | 1 file      |
      | 2     | file              | 2 files     |
      | 1     | process/processes | 1 process   |
      | 2     | process/processes | 2 processes |

  Scenario Outline: At most <most> of <items>
    Then at most <most> of <items> are written as <text>

    Examples:
      | items      | most | text             |
      | a          | 2    | a                |
      | a, b       | 2    | a, b             |
      | a, b, c, d | 2    | a, b and 2 more  |
