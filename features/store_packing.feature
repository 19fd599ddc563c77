@disk
Feature: Packs of checkpoints are combined
  Each checkpoint adds a small pack. Where there are many, they become one, so that the thousandth
  checkpoint costs what the tenth did; whoever reads or writes meanwhile does not notice.

  Rule: many become few, and nothing is lost

    Scenario: Many packs become one that holds everything
      Given a store with 9 checkpoints
      When the packs of the store are combined
      Then 9 packs have become 1
      And every checkpoint can be read back and git finds nothing wrong

    Scenario: A few packs are left as they are
      Given a store with 4 checkpoints
      When the packs of the store are combined
      Then every pack is still what it was

    Scenario: A large pack is not written again for a few small ones
      Given a store whose first checkpoint holds a large file
      And 8 more checkpoints
      When the packs of the store are combined
      Then the large pack is the same file as before
      And every checkpoint can be read back and git finds nothing wrong

    Scenario: What nothing leads to yet stays, another process may be about to name it
      Given a store with 8 checkpoints
      And something is stored that nothing leads to
      When the packs of the store are combined
      Then that can still be read

    Scenario: A pack that is just being written stays
      Given a store with 8 checkpoints
      And one of its packs is marked as being written
      When the packs of the store are combined
      Then the marked pack is the same file as before

    Scenario Outline: <sizes> leave <left>
      When packs of the sizes <sizes> are combined
      Then <left> stay as they are

      Examples:
        | sizes              | left   |
        | 1, 1, 1, 1         | none   |
        | 1, 2, 4, 8         | none   |
        | 1, 2, 6, 18        | 1, 2, 6, 18 |
        | 5, 5, 5, 100       | 100    |
        | 10, 30, 90         | 10, 30, 90 |

  Rule: it disturbs nobody

    Scenario: The project's packs stay the project's
      Given a project whose history is in packs, and a store with 8 checkpoints of it
      When the packs of the store are combined
      Then the project's files are the same, and still shared

    Scenario: A git that was reading before keeps reading
      Given a store with 9 checkpoints
      When the packs of the store are combined while git is reading them
      Then git reads every checkpoint before and afterwards

    Scenario: An index over many packs, made by an agent, does not lead astray
      Given a store with 9 checkpoints
      And an agent has had git write an index over all packs
      When the packs of the store are combined
      Then every checkpoint can be read back and git finds nothing wrong
