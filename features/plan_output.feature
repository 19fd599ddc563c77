Feature: What steps and validations printed
  Nothing that a step or a validation prints is lost, and standard error is marked.

  Background:
    Given the plan
      """
      name: local/talk
      steps:
        - {name: talk, tool: shell, with: {command: "echo to stdout; sleep 0.2; echo to stderr >&2"}}
        - {name: unfinished, tool: shell, with: {command: "printf 'no end of line'; printf 'bad end' >&2"}}
        - {name: silent, tool: shell, with: {command: "true"}}
      validations:
        - {name: tests, run: "echo testing; exit 4"}
      """

  Rule: it can be shown afterward

    Background:
      Given the plan has succeeded

    Scenario: Everything, in order
      When the user runs "agents plan output PLAN" on the plan
      Then the output is
        """
          to stdout
        ! to stderr
          no end of line
        ! bad end
        (printed nothing)
        """
      And the error output says "Lines marked `!` were written to standard error"

    Scenario Outline: Only <what>
      When the user runs "agents plan output PLAN <step>" on the plan
      Then the output is
        """
          no end of line
        ! bad end
        """

      Examples:
        | what                | step       |
        | a step, by number   | 2          |
        | a step, by its name | unfinished |

    Scenario: A validation that failed
      Given the plan could not be applied
      When the user runs "agents plan output PLAN tests" on the plan
      Then the output is
        """
          testing
        """

    Scenario: A failed validation is among the errors
      Given the plan could not be applied
      When the user runs "agents plan errors PLAN --format table" on the plan
      Then the output says "Failed Validations"
      And the output says "`tests` failed with status 4: testing"

    Scenario: Programs get the streams
      When the user runs "agents plan output PLAN talk --format json" on the plan
      Then the first output has the streams
        | stream | text        |
        | stdout | to stdout\n |
        | stderr | to stderr\n |

    Scenario: What a rollback undid is still there
      Given the plan has been rolled back to "before execution"
      When the user runs "agents plan output PLAN talk --format table" on the plan
      Then the output says "Step 1, talk (shell): succeeded, undone"

    Scenario: There is no such step
      When the user runs "agents plan output PLAN nonsense" on the plan
      Then the exit code is 2
      And the error output says "The plan has no step or validation `nonsense`"
      And the error output says "1 talk, 2 unfinished, 3 silent, tests"

  Rule: it can be followed while it happens

    Scenario: With --verbose
      When the user runs the plan with "--verbose"
      Then the error output says "  to stdout"
      And the error output says "! to stderr"
      And the error output says "  no end of line"
      And the error output says "! bad end"

    Scenario: Otherwise it stays out of the way
      When the user runs the plan with "--progress auto"
      Then the error output does not say "to stdout"

    Scenario: Programs follow it as JSON lines
      When the user runs the plan with "--progress json"
      Then a line of the error output is an event with
        | type            | text        | stderr |
        | progress.output | to stdout\n | false  |
        | progress.output | to stderr\n | true   |

  Rule: before a plan runs there is nothing

    Scenario: A plan that was only made
      Given the plan was made but not run
      When the user runs "agents plan output PLAN --format table" on the plan
      Then the output says "Nothing has run yet"
