Feature: Applying on a full disk
  Everything that an apply writes is beside the project before the first path changes; what undoing
  needs is there, too. So the disk may fill at any moment.

  Scenario Outline: The project's disk has room for <pages> more pages
    Given a plan whose project is on a small disk of its own
    When the apply is tried with room for <pages> pages
    Then the project was each time as before it or as after it

    Examples:
      | pages |
      | 0     |
      | 1     |
      | 3     |
      | 8     |
      | 24    |
      | 48    |
