Feature: Plan files that cannot be used
  A file that cannot be used is refused with one sentence, the line, and what to do.

  Rule: what cannot be read is refused

    Scenario Outline: There is no readable text
      Given <what> where the plan file should be
      When the plan file is read
      Then the file is refused because <problem>

      Examples:
        | what                             | problem                                                |
        | nothing                          | the file does not exist                                |
        | a directory                      | this is a directory, not a plan file                   |
        | a file in place of its directory | the file cannot be read: Not a directory               |
        | an empty file                    | the file is empty                                      |
        | a file of 11 MB                  | the file is larger than 10,000,000 bytes               |
        | a file with a control character  | the file contains characters that YAML does not allow  |

    Scenario: Text in another encoding is refused where it begins
      Given a Latin-1 file where the plan file should be
      When the plan file is read
      Then the file is refused on line 2 because the file is not UTF-8 text
      And the hint says "Save it as UTF-8"

  Rule: what is not YAML, or more than a plan may hold, is refused

    Scenario: Tabs do not indent
      Given a plan file
        """
        name: local/tabs
        steps:
        	- tool: shell
        """
      When the plan file is read
      Then the file is refused on line 3 because while scanning for the next token, found character that cannot start any token
      And the hint says "Indent with spaces: YAML does not allow tabs"

    Scenario: A bracket is not closed
      Given a plan file
        """
        name: local/brackets
        steps: [
        """
      When the plan file is read
      Then the file is refused on line 3 because while parsing a flow node, did not find expected node content

    Scenario: A name refers to nothing
      Given a plan file with the line `description: *nothing`
      When the plan file is read
      Then the file is refused on line 4 because found undefined alias

    Scenario: A key is given twice
      Given a plan file
        """
        name: local/twice
        steps: []
        name: local/again
        """
      When the plan file is read
      Then the file is refused on line 3 because `name` is already set on line 1

    Scenario Outline: YAML has more than a plan can hold
      Given a plan file with the line `<line>`
      When the plan file is read
      Then the file is refused on line 4 because <problem>

      Examples:
        | line                              | problem                                                             |
        | 12: twelve                        | a key must be text                                                  |
        | [a, b]: pair                      | a key must be text                                                  |
        | <<: {description: merged}         | merge keys (`<<`) are not supported                                 |
        | description: 2024-01-01           | YAML reads `2024-01-01` as a timestamp, which a plan cannot contain |
        | description: !!binary aGVsbG8=    | YAML reads `aGVsbG8=` as a binary, which a plan cannot contain      |
        | description: !!int many           | `many` is not a valid value                                         |
        | description: "a\0b"               | text cannot contain NUL or an unpaired surrogate                    |
        | confidence: 0x10000000000000000   | `0x10000000000000000` is too large a number                         |
        | description: &self [*self]        | the file is too large after its aliases are expanded                |

    Scenario: Aliases that repeat aliases are counted as what they stand for
      Given a plan file whose aliases repeat each other 10 times
      When the plan file is read
      Then the file is refused on line 1 because the file is too large after its aliases are expanded

    Scenario: Nesting has a bound
      Given a plan file nested 100000 deep
      When the plan file is read
      Then the file is refused on line 1 because the file is nested more than 64 levels deep
