Feature: What the user reads about a plan leads on
  Every list, refusal and explanation says what is the case now, and which command comes next.

  Scenario: A plan whose process was killed is interrupted, not processing
    Given a plan with the steps
      | step | does                 |
      | one  | runs `kill -9 $PPID` |
    And the plan has been made
    And executing it has been killed by its own tool
    When the user types "agents plan list" at a terminal
    Then the screen says "execute/interrupted"

  Scenario: A list that filters make empty does not say that there are no plans
    Given a plan that wrote a.txt in step one and b.txt in step two
    When the user types "agents plan list --state errored" at a terminal
    Then the screen says "No plan matches."

  Scenario: An applied plan has nothing to resume, and nothing would be restored
    Given a plan that wrote a.txt in step one and b.txt in step two
    And "agents plan apply PLAN --yes" was run
    When the user runs "agents plan resume PLAN --dry-run --format json" on the plan
    Then the JSON document has
      | field         | value     |
      | data.eligible | false     |
      | data.reason   | "applied" |
      | data.drifted  | []        |

  Scenario: A run that could not be applied names its plan and the command
    Given a plan that wrote a.txt in step one and b.txt in step two
    And the user's file a.txt is not committed
    When the user types "agents plan run FILE --apply" at a terminal
    Then the exit code is 4
    And the screen says "The plan has run; apply it with `agents plan apply"

  Scenario: Cancelling twice says what happened to the sandbox
    Given a plan that wrote a.txt in step one and b.txt in step two
    And "agents plan cancel PLAN" was run
    When the user types "agents plan cancel PLAN --discard --yes" at a terminal
    Then the screen says "The plan was already cancelled; its sandbox is discarded"

  Scenario: A decision names the command that corrects it
    Given the plan
      """
      name: local/choice
      steps:
        - name: where
          decision:
            question: Where do greetings live?
            chosen: file
            options:
              file: {steps: [{name: a, tool: write-file, with: {path: a, content: a}}]}
              database: {steps: [{name: b, tool: write-file, with: {path: b, content: b}}]}
      """
    And the plan has succeeded
    When the user explains the decision at a terminal, and what was known
    Then the screen says "--mode revert --choose database --guidance WHY"
    And the screen says "relevant resources project"

  Scenario: An empty directory in the place of a sandbox is not rolled back
    Given the project has a directory `../assets` of 3 files
    And the plan
      """
      name: local/assets
      resources:
        assets: {type: fs-directory, path: ../assets}
      steps:
        - {name: one, tool: write-file, with: {path: one.txt, content: "1\n"}}
      """
    And the plan has succeeded
    And an empty directory is in the place of its sandbox
    When the user types "agents plan rollback PLAN @first --yes" at a terminal
    Then the exit code is 4
    And the screen says "it is not what was there before"
