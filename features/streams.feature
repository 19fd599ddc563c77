Feature: Talking to the user
  stdout carries the result and nothing else; questions, warnings and status go to stderr.
  Nothing is asked where nobody can answer.

  Rule: a question needs a terminal, and only a clear yes is a yes

    Scenario Outline: The answer decides
      Given the user sits before a terminal
      When the user answers "<answer>" to "agents sample ask --format plain"
      Then the exit code is 0
      And the error output is
        """
        Go on? [y/N]
        """
      And the output says "<result>"

      Examples:
        | answer | result |
        | y      | True   |
        | YES    | True   |
        | maybe  | False  |

    Scenario: Without a terminal the command refuses instead of hanging
      When the user runs "agents sample ask"
      Then the exit code is 2
      And the error output says "needs confirmation, but this command cannot ask for it"
      And the error output says "Hint: Add `--yes`"

    Scenario: The user can forbid questions
      Given the user sits before a terminal
      When the user runs "agents sample ask --no-input"
      Then the exit code is 2
      And the error output says "needs confirmation"

    Scenario: A directory that was removed under the user is not a crash
      Given the current directory has been removed
      When the user runs "agents config list"
      Then the exit code is 2
      And the error output says "The current directory no longer exists"

  Rule: status lines are for people

    Scenario: Status goes to stderr, with nothing in it that a terminal would obey
      When the user runs "agents sample say"
      Then the output is empty
      And the error output is
        """
        Working\x07
        """

    Scenario: A program that asked for a document gets no status
      When the user runs "agents sample say --format json"
      Then the exit code is 0
      And the error output is empty

  Rule: warnings cannot be missed

    Scenario: A warning goes to stderr
      When the user runs "agents sample warn --format table"
      Then the exit code is 3
      And the output says "OK Done"
      And the error output says "Warning: 1 file was skipped"

    Scenario: A warning is part of the document
      When the user runs "agents sample warn --format yaml"
      Then the exit code is 3
      And the YAML document has
        | field    | value                           |
        | status   | "warn"                          |
        | messages | ["Done", "1 file was skipped"]  |

  Rule: an output that cannot be written is not a crash

    Scenario: A reader that went away is nobody's failure
      When nobody reads the output of "agents config list"
      Then the exit code is 0
      And the error output is empty

    Scenario: A closed output is nobody's failure either
      When the output of "agents config list" is closed
      Then the exit code is 0
      And the error output is empty

    Scenario: Help for a reader that went away ends quietly
      When nobody reads the output of "agents --help"
      Then the exit code is 1
      And the error output is empty

    Scenario: A full disk is not a bug, even where no command has begun
      When the output of "agents --version" goes to a full disk
      Then the exit code is 1
      And the error output says "There is no space left on the disk"

    Scenario Outline: A full disk is reported
      When the output of "agents config <command>" goes to a full disk
      Then the exit code is <code>
      And the error output says "The result could not be written: No space left on device"

      Examples:
        | command              | code |
        | list                 | 1    |
        | get x.y --format json | 10   |
