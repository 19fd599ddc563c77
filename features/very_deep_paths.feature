Feature: Very deep paths
  How deep a path is does not matter, as long as the operating system accepts it.

  Scenario: A path of 1,000 levels is rolled back, restored and applied
    Given a plan that writes a file 1000 levels deep
    When the user runs, rolls back, undoes and applies it in new processes
    Then every one of these commands succeeds
    And the project has a file 1000 levels deep
