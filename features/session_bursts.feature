Feature: Checkpoints of what a session writes
  A session has a checkpoint after each burst of writes, whatever its command is.

  Scenario: Each burst of writes has a checkpoint that says what changed
    Given a project of the kind `git`
    And the variable CLEVERAGENTS_SESSION_QUIET_TIME is "0.1"
    And a session `-i` whose command writes `early` and waits
    And the session has 2 checkpoints
    When the command writes `late` and ends
    Then its first checkpoints are `session_start, after_burst`
    And their labels begin with `start of the session; 1 file changed: early`

  Scenario: A command that never pauses has checkpoints, too
    Given a project of the kind `git`
    And the variable CLEVERAGENTS_SESSION_QUIET_TIME is "60"
    And the variable CLEVERAGENTS_SESSION_LONGEST_BURST is "0.3"
    And a session `-i` whose command writes without a pause
    And the session has 4 checkpoints
    When the command ends
    Then its first checkpoints are `session_start, after_burst, after_burst, after_burst`

  Scenario: What is written again as it was makes no checkpoint
    Given a project of the kind `git`
    And the variable CLEVERAGENTS_SESSION_QUIET_TIME is "0.1"
    And a session `-i` whose command writes `early` and waits
    And the session has 2 checkpoints
    And `early` was written again as it was, and then `other` was written
    And the session has 3 checkpoints
    When the command writes `late` and ends
    Then their labels begin with `start of the session; 1 file changed: early; 1 file changed: other`

  Scenario: A system that does not report changes is looked at now and then
    Given a project of the kind `git`
    And the variable CLEVERAGENTS_SESSION_LONGEST_BURST is "0.3"
    And a system that does not report changes
    And a session `-i` whose command writes `early` and waits
    And the session has 2 checkpoints
    When the command writes `late` and ends
    Then the error output says "The system does not report which files change"
    And its first checkpoints are `session_start, after_burst`

  Scenario: A session keeps so many checkpoints, and its start and its end in any case
    Given a project of the kind `git`
    And the variable CLEVERAGENTS_SESSION_QUIET_TIME is "0.05"
    And the variable CLEVERAGENTS_SESSION_MAX_CHECKPOINTS is "3"
    And a session `-i` whose command writes `early` and waits
    And the session has written `one`, `two` and `three`, each with a checkpoint
    When the command writes `late` and ends
    Then their labels begin with `start of the session; 1 file changed: three`
    And the last one is the end of the session

  Scenario: A file that is mapped into memory is in a requested checkpoint
    Given a project of the kind `git`
    And a session in place whose command maps `mapped` into memory and has changed it there
    When the user runs "agents plan checkpoint create @latest --label mapped"
    Then the exit code is 0
    And `mapped` is in the checkpoint as it is in memory
