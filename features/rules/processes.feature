Feature: Finding the processes of a tool
  What a tool started is found by its session, or where that cannot be asked, by its group.

  Scenario: Without a process table the process group is asked
    When a session is ended on a system without a process table
    Then the session's processes are gone

  Scenario: A process that ends while it is read is not there
    When the processes of a session are looked for while one ends
    Then none is found
