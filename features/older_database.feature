Feature: A database that is older than the mirrors and sandboxes
  After the database was restored from a backup, it does not know the newest work. Commands that
  clean up leave that work alone, and name it.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two
    And the database has been backed up
    And a second plan has run, and the first has a new checkpoint
    And the database has been restored from the backup

  Scenario Outline: <command> keeps what the older database does not know
    When the user runs "agents <command> --format json"
    Then the sandbox and the snapshots of the second plan are still there
    And the new checkpoint of the first plan has its snapshot
    And the second plan is named

    Examples:
      | command      |
      | gc           |
      | doctor --fix |

  Scenario: Other work does not make the older database trusted
    Given a third plan has run
    When the user runs "agents gc --format json"
    Then the sandbox and the snapshots of the second plan are still there
    And the second plan is named

  Scenario: Deleting a checkpoint keeps snapshots that the older database does not know
    When the user deletes the checkpoint "before two" for good
    Then the exit code is 0
    And the new checkpoint of the first plan has its snapshot
