Feature: Executing a plan
  A plan runs in a private sandbox, step by step, and whatever happens is on disk: any command
  can go on with it in a new process.

  Rule: a run leaves the project alone and tells where it got to

    Scenario: A run is known to every later process
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has run
      When the user asks in a new process where the plan is
      Then the document says the same as the run did

    Scenario: What a plan does is in its sandbox and nowhere else
      Given a plan with the steps
        | step  | does                            |
        | one   | writes new/a.txt                |
        | two   | deletes README.md               |
        | three | runs `ln -s app.py src/main.py` |
      When the user runs the plan
      Then the exit code is 0
      And the sandbox is the project after `mkdir new; echo by one > new/a.txt; rm README.md; ln -s app.py src/main.py`
      And the project is untouched
      And the plan is execute/complete with 3 steps done

    Scenario: A complete plan is not executed again
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user executes the plan
      Then the exit code is 0
      And it warns that "The plan was already complete"
      And nothing has changed

    Scenario: A plan that is made first and executed later
      Given a plan with the steps
        | step | does         |
        | one  | writes a.txt |
      And the plan has been made
      When the user executes the plan
      Then the exit code is 0
      And the plan is execute/complete with 1 steps done

  Rule: steps know the arguments, the sandboxes and what earlier steps gave back

    Scenario: A later step uses the output of an earlier one
      Given a plan whose second step writes what its first step gave back
      When the user runs the plan
      Then the sandbox is the project after `echo from-one-for-you > out.txt`

    Scenario: A plan with two repositories works in both
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      When the user runs the plan
      Then each repository's sandbox has its own file
      And the checkpoints are
        | label            | resource |
        | before execution | project  |
        | before execution | docs     |
        | before shop      | project  |
        | after shop       | project  |
        | before docs      | project  |
        | after docs       | docs     |
        | after execution  | project  |

    Scenario: A plan whose second repository is gone begins nothing
      Given a plan that writes shop.txt in the project and docs.txt in another repository
      And the plan has been made
      And the other repository has been deleted
      When the user executes the plan
      Then the exit code is 4
      And no sandbox is left behind
      And the plan is strategize/complete with 0 steps done

  Rule: Ctrl-C stops a plan where it can go on

    Scenario: An interrupted plan says how to go on
      Given a plan with the steps
        | step | does                                                   |
        | one  | writes a.txt                                           |
        | two  | runs `echo half > b.txt; kill -INT $PPID; sleep 9`     |
      When the user runs the plan
      Then the exit code is 130
      And the error is "Interrupted; completed steps are kept: PLAN"
      And the hint is "Run `agents plan resume PLAN` to continue"
      And the plan is execute/processing with 1 steps done

    Scenario: Continuing after Ctrl-C begins with the step that was stopped
      Given a plan with the steps
        | step | does                                                                                          |
        | one  | writes a.txt                                                                                  |
        | two  | runs `echo more >> b.txt; test -e OUTSIDE/fixed \|\| { kill -INT $PPID; sleep 9; }`          |
      And the plan has been interrupted
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the steps that ran are 2
      And the sandbox is the project after `echo by one > a.txt; echo more > b.txt`
      And it warns that "The sandbox differed from the checkpoint `before two` and was restored; `agents plan rollback PLAN «found when going on»` brings back what was there"
      And the plan is execute/complete with 2 steps done

    Scenario: With no trigger on, continuing after Ctrl-C does not repeat finished steps
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan with the steps
        | step | does                                                                                 |
        | one  | writes a.txt                                                                         |
        | two  | runs `echo more >> b.txt; test -e OUTSIDE/fixed \|\| { kill -INT $PPID; sleep 9; }` |
      And the plan has been interrupted
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the steps that ran are 2
      And the sandbox is the project after `echo by one > a.txt; echo more > b.txt`

    Scenario: With no trigger on, continuing after a stop between two steps does not repeat the first
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | two  | writes b.txt |
      And the plan has been interrupted at step-ended
      When the user executes the plan
      Then the steps that ran are 2
      And the sandbox is the project after `echo by one > a.txt; echo by two > b.txt`

    Scenario: A stopped run whose progress cannot be stored warns about it
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "[]"
      And a plan with the steps
        | step | does         |
        | one  | writes a.txt |
        | two  | writes b.txt |
      And the disk has room for 1 snapshots
      And the user presses Ctrl-C when the run is at step-ended
      When the user runs the plan
      Then the exit code is 130
      And it warns that "The snapshot could not be stored: [Errno 28] No space left on device"

  Rule: a step runs in the resource that it names, or not at all

    Scenario: Its sandbox is not recorded
      Given the plan
        """
        name: local/two
        resources:
          project: {type: git-checkout, path: .}
          other: {type: fs-directory, path: OUTSIDE/other}
        steps:
          - {name: wait, tool: shell, with: {command: test -f OUTSIDE/fixed}}
          - {name: write, tool: write-file, resource: other, with: {path: a.txt, content: by write}}
        """
      And the directory other is beside the project
      And the plan has failed
      And the record of the sandbox of other has been lost
      And the cause of the failure has been fixed
      When the user executes the plan
      Then the error is "Step 2 of 2 (`write`) failed: The plan has no sandbox of the resource `other`"
      And the sandbox is the project after `true`
