Feature: Looking at plans
  Plans are named by id, by the beginning of one, or by their place; every command reads the same
  records.

  Rule: a plan can be made without running it

    Scenario: Making a plan looks at the project and does nothing
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      When the user makes the plan
      Then the exit code is 0
      And the plan is strategize/complete with 0 steps done
      And the messages are Plan created
      And the project is untouched
      And no sandbox is left behind

    Scenario Outline: Arguments that cannot be: <arguments>
      Given a plan whose second step writes what its first step gave back
      When the user makes the plan with <arguments>
      Then it is refused with the code 2 and the sentence <sentence>

      Examples:
        | arguments                   | sentence                               |
        | --arg who                   | `--arg who` has no value               |
        | --arg =you                  | `--arg =you` has no value              |
        | --arg who=me --arg who=you  | `--arg who` is given twice             |

    Scenario: An argument fills the plan
      Given a plan whose second step writes what its first step gave back
      When the user runs the plan with --arg who=a=b
      Then the sandbox is the project after `echo from-one-for-a=b > out.txt`

  Rule: the list can be narrowed

    Scenario Outline: Plans <options>
      Given three plans: one complete, one failed, one only made
      When the user lists the plans with <options>
      Then the plans listed are <plans>

      Examples:
        | options                  | plans                     |
        | --no-input               | complete, failed, made    |
        | --state errored          | failed                    |
        | --phase strategize       | made                      |
        | --project .              | complete, failed, made    |
        | --project ..             | none                      |
        | --action local/failed    | failed                    |
        | --action local/fail      | none                      |
        | ^local/.*ed$             | failed                    |
        | m.*e --state errored     | none                      |

    Scenario: The list counts
      Given three plans: one complete, one failed, one only made
      When the user lists the plans with --no-input
      Then the JSON document has
        | field        | value                                                             |
        | data.summary | {"total": 3, "processing": 0, "completed": 1, "errored": 1}       |
        | data.filters | {"phase": null, "state": null, "project": null, "action": null, "regex": null} |

    Scenario: An expression that cannot be read
      When the user lists the plans with local/(
      Then it is refused with the code 2 and the sentence `local/(` is not a regular expression: missing ), unterminated subpattern at position 6

    Scenario: People see an empty list in words
      When the user runs "agents plan list --format table"
      Then the output says "There are no plans yet. Run `agents plan run plan.yaml` to create one."

  Rule: status tells people what happened

    Scenario: A failed plan shows its error
      Given a plan with the steps
        | step | does          |
        | one  | runs `exit 3` |
      And the plan has failed
      When the user runs "agents plan status @latest --format table"
      Then the output says "| message      | `shell` failed with status 3"
      And the output says "| step         | 1 of 1"
      And the output says "errored"

    Scenario: The latest plan is the one that was made last, whatever the clock said
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has been made when the clock was years ahead
      And the plan has been made
      When the user runs "agents plan status @latest --format json"
      Then it is the status of the plan that was made last

  Rule: a diff shows what a plan changed

    Scenario: From the first checkpoint to the last
      Given a plan with the steps
        | step | does                                                                          |
        | one  | runs `echo more >> README.md; printf '\0\1' > blob; rm run.sh; echo a > "a b"` |
      And the plan has run
      When the user compares the plan's checkpoints
      Then the files that differ are
        | path      | status   | change |
        | README.md | modified | +1 -0  |
        | a b       | added    | +1 -0  |
        | blob      | added    | binary |
        | run.sh    | deleted  | +0 -1  |
      And the diff's own counts agree, and each file has its part of the patch

    Scenario: Between any two checkpoints
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user compares "before two" with "after two"
      Then the files that differ are
        | path  | status | change |
        | b.txt | added  | +1 -0  |

    Scenario: Nothing differs, in words
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user runs "agents plan diff @latest @first @first --format table"
      Then the output says "No differences."

    Scenario: A very long patch is cut, and says so
      Given a plan with the steps
        | step | does                       |
        | one  | runs `seq 400000 > long`   |
      And the plan has run
      When the user compares the plan's checkpoints
      Then it warns that "The patch is too long and was truncated"
