Feature: Effects that no restore can undo
  A tool may declare that its effects cannot be undone: a push, an e-mail. A rollback names such
  effects, and a plan does not repeat one unless the user says so.

  Background:
    Given the plan
      """
      name: local/sending
      tools:
        send: {run: "echo sent >> {{ place }}; test -e OUTSIDE/fixed", side_effects: [irreversible]}
      steps:
        - {name: write, tool: write-file, with: {path: a.txt, content: a}}
        - {name: send it, tool: send, with: {place: OUTSIDE/outbox}}
        - {name: end, tool: write-file, with: {path: b.txt, content: b}}
      """

  Rule: a rollback says what it cannot undo

    Scenario: After the effect
      Given the plan has succeeded
      When the user rolls the plan back to "after write"
      Then the effects not undone are step 2 (`send`)
      And it warns that "A rollback cannot undo the effects of step 2 (`send`)"

    Scenario: Before it there is nothing to say
      Given the plan has succeeded
      When the user rolls the plan back to "after send it"
      Then the effects not undone are none

  Rule: what may have happened is not done again unasked

    Scenario: Continuing after the effect failed
      Given the plan has failed
      And the cause of the failure has been fixed
      When the user resumes the plan
      Then it is refused with the code 4 and the sentence Continuing would repeat irreversible effects: step 2 (`send`, perhaps)
      And the effect has happened 1 times

    Scenario: Continuing after a rollback past it
      Given the plan has succeeded
      And the plan has been rolled back to "after write"
      When the user executes the plan
      Then it is refused with the code 4 and the sentence Continuing would repeat irreversible effects: step 2 (`send`)

    Scenario: The user says that it may happen again
      Given the plan has failed
      And the cause of the failure has been fixed
      When the user resumes the plan with --yes
      Then the exit code is 0
      And the effect has happened 2 times

    Scenario Outline: The user is asked at a terminal, and says <answer>
      Given the plan has failed
      And the cause of the failure has been fixed
      And the user sits before a terminal
      When the user answers "<answer>" when continuing would repeat the effect
      Then the exit code is <code>
      And the effect has happened <times> times

      Examples:
        | answer | code | times |
        | y      | 0    | 2     |
        | n      | 4    | 1     |

    Scenario: It is not retried by itself
      Given the plan tries a failed step 3 times more
      When the user runs the plan
      Then the exit code is 8
      And the effect has happened 1 times
