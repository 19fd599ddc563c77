Feature: Killed at any durable step
  A process can die between any two steps that leave something on the disk. The next one knows
  where the plan was, and comes to the end that an undisturbed run comes to: no step is left out,
  and none is run twice without its first run having been undone.

  Background:
    Given a plan on two resources with a decision and steps that must not run twice

  Rule: a run that was killed comes to the same end

    Scenario Outline: Killed at <point>
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is "<triggers>"
      And the plan has been made
      When executing it is killed each time it is at <point>, and then resumed
      Then the end was each time that of a run that nothing had interrupted

      Examples:
        | point              | triggers                                                          |
        | lease-taken        | before_tool_execute,after_tool_execute                            |
        | sandbox-made       | before_tool_execute,after_tool_execute                            |
        | sandboxes-recorded | before_tool_execute,after_tool_execute                            |
        | start-kept         | before_tool_execute,after_tool_execute                            |
        | snapshot-taken     | before_tool_execute,after_tool_execute                            |
        | group-recorded     | before_step,after_step,before_tool_execute,after_tool_execute     |
        | intent-recorded    | before_step,after_step,before_tool_execute,after_tool_execute     |
        | tool-ended         | before_tool_execute,after_tool_execute                            |
        | tool-ended         | []                                                                |
        | outcome-recorded   | before_step,after_step,before_tool_execute,after_tool_execute     |
        | step-ended         | []                                                                |

  Rule: so does one that was killed while it failed

    Scenario Outline: Killed at <point>, after a failure
      Given its last step fails
      And the plan has been made
      When executing it is killed each time it is at <point>, and then resumed
      Then the end was each time that of a run that nothing had interrupted

      Examples:
        | point                |
        | call-failed          |
        | failed-state-kept    |
        | sandboxes-taken-back |
        | return-recorded      |
        | failure-taken-back   |
        | failure-recorded     |

  Rule: so does one that was killed while it was taken up again

    Scenario Outline: Killed at <point>, continuing
      Given the plan has been made
      And the killed run is one that had ended a tool and recorded nothing of it
      When resuming it is killed each time it is at <point>, and then resumed
      Then the end was each time that of a run that nothing had interrupted

      Examples:
        | point                |
        | lease-taken          |
        | going-on-recorded    |
        | drift-saved          |
        | resource-restored    |
        | sandboxes-taken-back |
        | return-recorded      |

  Rule: so does one whose sandboxes had to be made again

    Scenario Outline: Killed at <point>, making sandboxes again
      Given the plan has been made
      And it has been executed
      And its sandboxes have been lost after a rollback
      When executing it is killed each time it is at <point>, and then resumed
      Then the sandboxes were each time those of a run that nothing had interrupted

      Examples:
        | point              |
        | sandbox-found-lost |
        | sandbox-reopened   |

  Rule: a rollback that was killed is completed, or has not begun

    Scenario Outline: Rolling back, killed at <point>
      Given the plan has been made
      And it has been executed
      When rolling it back to "after first" is killed each time it is at <point>, and then repeated
      Then everything was each time as at "after first", and nothing was pending

      Examples:
        | point               |
        | present-state-saved |
        | rollback-journaled  |
        | resource-restored   |
        | rollback-recorded   |

    Scenario: A rollback that failed, killed once it had been undone
      Given the plan has been made
      And it has been executed
      And the next rollback fails for want of its records
      When rolling it back to "after first" is killed each time it is at compensated, and then repeated
      Then everything was each time as at "after first", and nothing was pending

  Rule: nothing is left of what was pruned, cancelled or deleted

    Scenario: Killed at pruned-snapshots-dropped
      Given a plan may keep 2 checkpoints
      And the plan has been made
      When executing it is killed each time it is at pruned-snapshots-dropped, and then resumed
      Then the sandboxes were each time those of a run that nothing had interrupted

    Scenario: Killed at cancel-recorded
      Given the plan has been made
      When cancelling it is killed at cancel-recorded
      Then the plan is strategize/cancelled with 0 steps done

    Scenario: Killed at deletion-recorded
      Given the plan has been made
      And it has been executed
      And checkpoints "mine" and "later" of two states have been made by hand
      When deleting the checkpoint "mine" is killed at deletion-recorded
      Then the checkpoint "mine" is gone
      And 1 snapshots more are stored than recorded
      And taking the plan up again drops them

  Rule: every point has a scenario

    Scenario: Every point is in this feature
      When somebody looks for the points in this feature and in the others about kills
      Then all of them are there
