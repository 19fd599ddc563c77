Feature: What a plan can be relied on for
  A plan says beforehand whether all of it could be undone, and afterwards where it is.

  Rule: a write that could not be undone is refused, unless the plan can do without

    Scenario: A tool that cannot be checkpointed is refused before anything is made
      Given a plan whose only tool writes and is not checkpointable
      When the user runs the plan
      Then it is refused with the code 4 and the sentence Step `publish` writes with `publish`, which is not checkpointable, and the plan requires checkpoints
      And nothing has changed

    Scenario: A plan that can do without runs it, without checkpoints around it
      Given a plan whose only tool writes and is not checkpointable
      And the plan can do without checkpoints
      When the user runs the plan
      Then the checkpoints are before execution, after execution

  Rule: what is shown is what is true now

    Scenario: After a rollback, what the plan changed is what is left of it
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the plan has been rolled back to "after one"
      When the user compares the plan's checkpoints
      Then the files that differ are
        | path  | status | change |
        | a.txt | added  | +1 -0  |

    Scenario: A plan is found from a directory inside its project
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user lists the plans with --project src
      Then the plans listed are shop

    Scenario: A project that is gone still has its plans
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the project has been deleted
      When the user lists the plans from outside with the project's path
      Then the plans listed are shop

    Scenario: A plan left behind by a killed process says so
      Given a plan that wrote a.txt in step one and b.txt in step two
      And its process was killed while it ran
      When the user runs "agents plan status @latest"
      Then the output says "interrupted	run `agents plan resume"
