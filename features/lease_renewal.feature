Feature: Leases that cannot be renewed
  A process that cannot renew its lease ends its tool before another process may take the plan.
  With a server, its clock decides when that is.

  Rule: a process that cannot renew its lease stops before another takes the plan

    Background:
      Given the plan is held by the first host

    Scenario: A process that was only stopped for a while renews its lease first
      When the first host is stopped for a day
      Then its tool may continue

    Scenario: A process that failed to renew for too long ends its tool
      When the first host fails to renew its lease for a day
      Then its tool has to end

    Scenario Outline: After that, <act> is refused
      Given the first host fails to renew its lease for a day
      And its tool has to end
      When the first host <does>
      Then the host is refused because The lease on plan PLAN could not be renewed, so another process may take the plan

      Examples:
        | act             | does                      |
        | restoring files | is about to restore files |
        | writing         | writes                    |

    Scenario: A lease that could not be renewed ends by itself
      Given the first host fails to renew its lease for a day
      And its tool has to end
      When the first host is done
      Then the plan is still held by the first host, for the 1. time

  Rule: the clock of a server decides

    Scenario: A host whose clock is ahead does not take a plan over
      Given the records are on a server
      And the plan is held by the first host
      And the clock of the second host is a day ahead
      When the second host wants to hold the plan once more
      Then the host is refused because Plan PLAN is held by process 1 on first.example.org (`agents plan execute`)
