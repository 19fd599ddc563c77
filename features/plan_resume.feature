Feature: Resuming a plan
  A plan that failed, was interrupted or was rolled back continues where it was, in any process.

  Background:
    Given a plan with the steps
      | step  | does                                                |
      | one   | writes a.txt                                        |
      | two   | runs `echo more >> b.txt; test -e OUTSIDE/fixed`   |
      | three | writes c.txt                                        |

  Rule: a dry run says where the plan would continue, and changes nothing

    Scenario: A rehearsal
      Given the plan has failed
      When the user rehearses resuming
      Then the rehearsal says
        | field            | value      |
        | eligible         | True       |
        | reason           | ok         |
        | next_step        | 1          |
        | step_name        | two        |
        | checkpoint_label | before two |
      And nothing has changed

    Scenario: A dry run lists what has changed since
      Given the plan has failed
      And the user has changed the sandbox by `echo mine > mine.txt`
      When the user rehearses resuming
      Then the rehearsal says
        | field   | value       |
        | drifted | ['project'] |
      And nothing has changed

    Scenario Outline: There is nothing to go on with
      Given <situation>
      When the user rehearses resuming
      Then the rehearsal says
        | field    | value    |
        | eligible | False    |
        | reason   | <reason> |
      And nothing has changed

      Examples:
        | situation               | reason      |
        | the plan has succeeded  | complete    |
        | the plan was cancelled  | cancelled   |

  Rule: it continues at the next step

    Scenario: After a failure, once the cause is fixed
      Given the plan has failed
      And the cause of the failure has been fixed
      When the user resumes the plan
      Then the exit code is 0
      And the steps that ran are 2, 3
      And the sandbox is the project after `echo by one > a.txt; echo more > b.txt; echo by three > c.txt`

    Scenario: A plan that never ran starts
      Given the plan has been made
      And the cause of the failure has been fixed
      When the user resumes the plan
      Then the steps that ran are 1, 2, 3

    Scenario: After a rollback
      Given the plan has succeeded
      And the plan has been rolled back to "after one"
      When the user resumes the plan
      Then the steps that ran are 2, 3

    Scenario Outline: A plan that is done is refused
      Given <situation>
      When the user resumes the plan
      Then it is refused with the code 4 and the sentence A plan in <place> cannot be resumed
      And nothing has changed

      Examples:
        | situation              | place               |
        | the plan has succeeded | execute/complete    |
        | the plan was cancelled | execute/cancelled   |

  Rule: a sandbox that is gone is made again from the last checkpoint

    Scenario: It was deleted
      Given the plan has failed
      And the cause of the failure has been fixed
      And the plan's sandbox has been deleted
      When the user resumes the plan
      Then the exit code is 0
      And it warns that "cannot be used: it is missing. It was recreated"
      And the sandbox is the project after `echo by one > a.txt; echo more > b.txt; echo by three > c.txt`

    Scenario: It was deleted after a rollback
      Given the plan has failed
      And the cause of the failure has been fixed
      And the plan has been rolled back to "after one"
      And the plan's sandbox has been deleted
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo by one > a.txt; echo more > b.txt; echo by three > c.txt`

    Scenario: It was deleted before the first checkpoint was made
      Given the cause of the failure has been fixed
      And the plan has been made
      And a run was killed when its sandboxes were recorded
      And the plan's sandbox has been deleted
      When the user executes the plan
      Then the exit code is 0
      And the sandbox is the project after `echo by one > a.txt; echo more > b.txt; echo by three > c.txt`

    Scenario: What is made again is not what it was
      Given the plan has failed
      And the plan's sandbox has been deleted
      And what is restored to a sandbox does not arrive
      When the user resumes the plan
      Then the exit code is 7
      And the sandbox is made once more by the next run

    Scenario: Something else stands in its place
      Given the plan has failed
      And the sandbox has been replaced by a directory of somebody else
      When the user resumes the plan
      Then it is refused with the code 4 and the sentence The sandbox SANDBOX cannot be used: it is not what was there before
