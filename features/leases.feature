Feature: Leases on plans
  Whoever changes a plan holds its lease. It is renewed while the work takes long. Whoever lost it,
  because its machine slept or was cut off, can no longer store anything.

  Rule: a lease lasts as long as the work

    Scenario: A lease is renewed while its holder works
      Given the plan is held by the first host, whose leases are short
      When the work takes longer than a lease
      Then the plan is still held by the first host, for the 1. time
      And a process of the second host is refused because Plan PLAN is held by process 1 on first.example.org (`agents plan execute`)

    Scenario: A plan that is done does not end the renewing of another
      Given the plan is held by the first host, whose leases are short
      And another plan was held by it too, and is done
      When the work takes longer than a lease
      Then the plan is still held by the first host, for the 1. time

    Scenario: A renewal that fails is tried again
      Given the plan is held by the first host, whose leases are short
      And the database is busy for the next 3 renewals
      When the work takes longer than a lease
      Then the plan is still held by the first host, for the 1. time

    Scenario: Nothing is renewed when the work is done
      Given the plan is held by the first host, whose leases are short
      When the first host is done
      Then nobody holds the plan
      And nothing runs in the background

    Scenario: Closing everything ends the renewing first
      Given the plan is held by a program that closes its services in the middle
      When the program has closed them
      Then nothing runs in the background

  Rule: whoever was replaced stores nothing

    Background:
      Given the plan is held by the first host
      And its lease has ended, and the second host has taken the plan over

    Scenario Outline: <act> is refused, and the new holder named
      When the first host <does>
      Then the host is refused because Plan PLAN was taken over by process 2 on second.example.org (`agents plan execute`)
      And the plan is still held by the second host, for the 2. time
      And nothing of the first host is stored

      Examples:
        | act                    | does                               |
        | Writing                | writes                             |
        | Restoring files        | is about to restore files          |
        | Holding the plan again | wants to hold the plan once more   |
        | Writing twice          | writes, is refused and tries again |

    Scenario: A renewal that comes too late changes nothing
      When the first host renews its lease
      Then the plan is still held by the second host, for the 2. time
      And the first host can no longer write

    Scenario: Who was replaced does not give back what is not its own
      When the first host is done
      Then the plan is still held by the second host, for the 2. time

    Scenario: The new holder works on undisturbed
      When the second host writes
      Then it is stored

    Scenario: A lease that is gone altogether is not held
      Given all leases are gone from the records
      When the first host writes
      Then the host is refused because The lease on plan PLAN was lost

  Rule: a lease belongs to one process and all its threads

    Scenario: The lease ends with the last block that needs it
      Given the plan is held by the first host
      When the first host holds it once more, and one of the two is done
      Then the plan is still held by the first host, for the 1. time

    Scenario: A fork gives nothing back
      Given the plan is held by the first host
      When a fork of the first host ends
      Then the plan is still held by the first host, for the 1. time

    Scenario: A lease that could not be given back does not block its own process
      Given the plan is held by the first host
      And giving it back failed because the database was busy
      When the first host wants to hold the plan once more
      Then the plan is still held by the first host, for the 2. time

    Scenario: A lease that was given back allows no restore
      Given the plan is held by the first host
      And the first host is done
      When the first host is about to restore files
      Then the host is refused because Plan PLAN is not held by this process
