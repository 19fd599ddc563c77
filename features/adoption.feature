Feature: Adopting what the database does not know
  After the database was restored from a backup, plans and checkpoints that it does not know are
  kept, and `agents doctor` names them. `agents doctor --adopt` makes records for them, so that the
  user can look at them, roll back, apply or discard them.

  Rule: plans that are newer than the database

    Background:
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the database has been backed up
      And a second plan has run, and the first has a new checkpoint
      And the database has been restored from the backup

    Scenario: A check names the unknown plan
      When the user has the installation checked
      Then the exit code is 0
      And the check "quarantine" is warning: Not in the database, and kept
      And the unknown plan is named with its project, size, snapshots and age

    Scenario: The unknown plan is adopted
      When the user has everything adopted
      Then the exit code is 0
      And the check "quarantine" is fixed: Adopted
      And the second plan is execute/complete, with its name and its checkpoints
      And checking again finds nothing

    Scenario Outline: The adopted plan can be used: <use>
      Given everything has been adopted
      When the user runs "agents plan <command>" with the second plan
      Then the exit code is 0
      And <result>

      Examples:
        | use       | command                       | result                                        |
        | compare   | diff PLAN                     | the output says "b.txt"                       |
        | apply     | apply PLAN --yes              | the project has a.txt and b.txt               |
        | roll back | rollback PLAN CHECKPOINT --yes | the second plan's sandbox has neither file    |
        | discard   | cancel PLAN --discard --yes   | the second plan has no sandbox                |

    Scenario: The unknown checkpoint of a known plan is adopted
      Given everything has been adopted
      When the user rolls the first plan back to its adopted checkpoint
      Then the exit code is 0
      And the first plan's sandbox has new.txt

    Scenario: Garbage is collected again once everything was adopted
      Given everything has been adopted
      When the user runs "agents gc --format json"
      Then the exit code is 0
      And the sandbox and the snapshots of the second plan are still there
      And the new checkpoint of the first plan has its snapshot

    Scenario Outline: Killed at <point> of an adoption
      When adopting is killed at <point>, and then repeated
      Then the exit code is 0
      And the second plan is execute/complete, with its name and its checkpoints
      And checking again finds nothing

      Examples:
        | point             |
        | plan-adopted      |
        | snapshots-adopted |
        | database-trusted  |

    Scenario: The sandbox was changed after its last checkpoint
      Given the user has changed a file in the sandbox of the second plan
      When the user has everything adopted
      Then the exit code is 0
      And the last checkpoint of the second plan is "adopted: as found"

    Scenario: Killed before what the sandbox holds is kept
      Given the user has changed a file in the sandbox of the second plan
      When adopting is killed at plan-adopted, and then repeated
      Then the exit code is 0
      And the last checkpoint of the second plan is "adopted: as found"
      And checking again finds nothing

    Scenario: A sandbox without a note was made by an earlier version
      Given nothing is noted beside the sandbox of the second plan
      When the user has everything adopted
      Then the exit code is 0
      And the second plan is execute/complete, with its id as its name

  Rule: a home whose database was lost

    Background:
      Given a plan that wrote a.txt in step one and b.txt in step two
      And nothing is noted beside the sandbox of the plan
      And the database was lost after that

    Scenario: A check says that the database is missing
      When the user has the installation checked
      Then the exit code is 0
      And the check "database" is warning: There is no database, but there are sandboxes of 1 plan
      And the sandbox of the lost plan is still there

    Scenario: The project is unknown
      When the user has everything adopted from another directory
      Then the exit code is 0
      And the check "quarantine" is warning: run this in the project's directory
      And the sandbox of the lost plan is still there

    Scenario: The user is in the project
      When the user has everything adopted
      Then the exit code is 0
      And the check "quarantine" is fixed: Adopted
      And checking again finds nothing

  Rule: a plan that ran after the backup was made

    Background:
      Given a plan on two resources with a decision and steps that must not run twice
      And the plan has been made
      And the database has been backed up
      And it has been executed
      And the database has been restored from the backup

    Scenario: It is not run over its finished work
      When the user runs "agents plan execute @latest --format json"
      Then the exit code is 4
      And the error has the code refused and names what helps

    Scenario: It is adopted with all its resources
      When the user has everything adopted
      Then the exit code is 0
      And the plan is execute/complete with its sandboxes and checkpoints
