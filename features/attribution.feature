Feature: Every change has an author
  Whatever a tool call changes is recorded with it, be it a file tool or a shell command, and
  whichever checkpoints are made.

  Scenario Outline: Changes by tools and by the shell, with the triggers <triggers>
    Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "<triggers>"
    And a plan with the steps
      | step | does                                                      |
      | one  | writes a.txt                                              |
      | two  | runs `echo more >> a.txt; rm run.sh; mkdir -m 750 new`    |
      | look | reads a.txt                                               |
    When the user runs the plan
    Then the changes are
      | step | path   | operation |
      | 1    | a.txt  | created   |
      | 2    | a.txt  | modified  |
      | 2    | new    | created   |
      | 2    | run.sh | deleted   |

    Examples:
      | triggers                               |
      | before_tool_execute,after_tool_execute |
      | []                                     |

  Scenario: What the user changed by hand is not a tool's
    Given a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    And the plan has been made
    And the user changes the sandbox by `echo mine > mine.txt` when it has been made
    When the user executes the plan
    Then the changes are
      | step | path  | operation |
      | 1    | a.txt | created   |

  Scenario: A failed call has its changes too, and they are not in effect
    Given a plan with the steps
      | step | does                          |
      | one  | runs `echo half > b; exit 3`  |
    When the user runs the plan
    Then the changes ever made are
      | step | path | operation |
      | 1    | b    | created   |
    And there are no changes in effect

  Scenario: A tool that says it only reads may not write
    Given the plan
      """
      name: local/liar
      tools: {peek: {run: "echo x > made.txt", read_only: true}}
      steps:
        - {tool: peek}
      """
    When the user runs the plan
    Then the error is "Step 1 of 1 (`peek`) failed: `peek` declares that it only reads, but changed made.txt"
    And the sandbox is as it was at "before execution"

  @service
  Scenario: Nothing is written while a plan is only being thought about
    Given a plan with the steps
      | step | does         |
      | one  | writes a.txt |
    And the plan has been made
    When a program runs a tool of the plan
    Then the program is told that A plan in strategize/complete cannot run `write-file`, which writes
