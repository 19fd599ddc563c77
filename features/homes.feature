Feature: A home directory that was moved or copied
  A home has an identity, and its sandboxes are recorded with absolute paths. Where a home was
  moved, the next command makes its records and links right. A copy must not touch the sandboxes
  of the home that it was copied from.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two

  Rule: a moved home repairs itself

    Scenario: A rollback in a moved home
      Given the home directory has been moved
      When the plan is rolled back here to "after one"
      Then the exit code is 0
      And it warns that "The home directory was moved from"
      And the sandbox in this home is as after step one
      And git in the sandbox uses the mirror of this home

    Scenario: Every checkpoint names the sandbox where it is now
      Given the home directory has been moved
      When the user has the installation checked
      Then the exit code is 0
      And the check "identity" is fixed: its plans now use the sandboxes here
      And no record names the home where it was

    Scenario Outline: Killed at <point> of the repair
      Given the home directory has been moved
      When repairing the home is killed at <point>, and the user then rolls back to "after one"
      Then the exit code is 0
      And the sandbox in this home is as after step one
      And git in the sandbox uses the mirror of this home

      Examples:
        | point         |
        | home-recorded |
        | home-relinked |

    Scenario: The home of an earlier version was moved by hand
      Given the home is that of an earlier version
      And the home directory has been moved
      When the plan is rolled back here to "after one"
      Then the exit code is 0
      And the sandbox in this home is as after step one

    Scenario: A home with a second name stays where it is
      Given the home directory is used under another name
      When the plan is rolled back here to "after one"
      Then the exit code is 0
      And the sandbox in this home is as after step one

    Scenario: A process still works in the home under its old name
      Given a process works on the plan
      And the home directory has been moved
      When the plan is rolled back here to "after one"
      Then the exit code is 6
      And the error has the code busy and names what helps

    Scenario: A moved home that cannot be repaired is not used
      Given the home directory has been moved
      And the disk is full when the identity is stored
      When the plan is rolled back here to "after one"
      Then the exit code is 1
      And the error has the code database and names what helps

    Scenario: The plans of an earlier home can be listed on a full disk
      Given the home is that of an earlier version
      And the disk is full when the identity is stored
      When the user runs "agents plan list --format json"
      Then the exit code is 0

    Scenario: What ran before the home could get its identity belongs to it afterward
      Given the home is that of an earlier version
      And a plan has run while the disk was full for the identity
      When the plan is rolled back here to "after one"
      Then the exit code is 0
      And the sandbox in this home is as after step one
      And every sandbox is recorded with the identity of this home

  Rule: a copied home does not touch the home that it was copied from

    Scenario: A copy is refused
      Given a copy of the home directory is used
      When the plan is rolled back here to "after one"
      Then the exit code is 10
      And the error has the code copied_home and names what helps
      And neither home has changed

    Scenario: A check of a copy says what it is
      Given a copy of the home directory is used
      When the user has the installation checked
      Then the exit code is 1
      And the check "identity" is problem: is a copy of
      And neither home has changed

    Scenario: A copy becomes a home of its own
      Given a copy of the home directory is used
      And the installation of the copy has been fixed
      When the plan is rolled back here to "after one"
      Then the exit code is 0
      And the sandbox in this home is as after step one
      And git in the sandbox uses the mirror of this home
      And the home that was copied has not changed

    Scenario: A copy of the home of an earlier version acts on its own sandboxes
      Given the home is that of an earlier version
      And a copy of the home directory is used
      When the plan is rolled back here to "after one"
      Then the exit code is 0
      And the sandbox in this home is as after step one
      And the home that was copied has not changed

    Scenario Outline: Killed at <point> while a copy becomes a home of its own
      Given a copy of the home directory is used
      And fixing the copy was killed at <point>
      And the installation of the copy has been fixed
      When the plan is rolled back here to "after one"
      Then the exit code is 0
      And the sandbox in this home is as after step one
      And the home that was copied has not changed

      Examples:
        | point         |
        | home-recorded |
        | home-relinked |
