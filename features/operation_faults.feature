Feature: Operations on three resources, disturbed at every stage
  A repository, a directory and a database go back together or not at all: whatever stage an
  operation dies or fails at, either everything is where it leads or everything is as before, and
  the next command says which.

  Background:
    Given a plan with a decision that has changed a repository, a directory and a database

  Rule: a killed operation is completed by the next command, or had not begun

    Scenario Outline: <operation>, killed at <point>
      Given the operation is <operation>
      When it is killed each time it is at <point>, and then asked for again
      Then everything was each time where it leads

      Examples:
        | operation  | point               |
        | rollback   | snapshot-taken      |
        | rollback   | group-recorded      |
        | rollback   | present-state-saved |
        | rollback   | rollback-journaled  |
        | rollback   | resource-restored   |
        | rollback   | rollback-recorded   |
        | undo       | present-state-saved |
        | undo       | rollback-journaled  |
        | undo       | resource-restored   |
        | part       | present-state-saved |
        | part       | rollback-journaled  |
        | part       | resource-restored   |
        | correction | present-state-saved |
        | correction | rollback-journaled  |
        | correction | resource-restored   |
        | correction | rollback-recorded   |

    Scenario: An undo that was killed when it was recorded is done, and the next goes further back
      Given the operation is undo
      When it is killed each time it is at rollback-recorded, and then redone and asked for again
      Then everything was each time where it leads

    Scenario: The next command says that it was completed
      Given the operation is undo
      And it was killed when one resource was restored
      When the user asks for it again
      Then the exit code is 0
      And it warns that an interrupted undo was completed

    Scenario: The sandboxes were deleted meanwhile
      Given the operation is rollback
      And it was killed when one resource was restored
      And the sandboxes have been deleted
      When the user asks for it again
      Then the exit code is 0
      And everything is where it leads

    Scenario: Another act than the interrupted one is not done on top of it
      Given the operation is correction
      And it was killed when one resource was restored
      When the user asks to undo instead
      Then the exit code is 3
      And it warns that an interrupted correction was completed

    Scenario: A child plan is appended whole
      Given the operation is append
      When it is killed each time it is at child-appended, and then inspected
      Then there was each time one child plan with its decisions

  Rule: a failed operation is undone

    Scenario Outline: <operation>, failing at <point>
      Given the operation is <operation>
      When it fails each time it is at <point>
      Then everything was each time <place>

      Examples:
        | operation  | point               | place          |
        | rollback   | snapshot-taken      | as before      |
        | rollback   | present-state-saved | as before      |
        | rollback   | resource-restored   | as before      |
        | rollback   | rollback-recorded   | where it leads |
        | undo       | resource-restored   | as before      |
        | part       | resource-restored   | as before      |
        | correction | resource-restored   | as before      |
        | correction | rollback-recorded   | where it leads |
