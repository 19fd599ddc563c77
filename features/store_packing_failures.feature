@disk
Feature: Combining packs fails without harm
  Combining only saves time. What goes wrong with it costs nothing but that.

  Rule: either all is combined, or nothing

    Scenario Outline: <fault>
      Given a store with 9 checkpoints
      When the packs of the store are combined although <fault>
      Then every pack is still what it was

      Examples:
        | fault                                            |
        | the disk is full                                 |
        | the disk becomes full on the way                 |
        | another process is combining them                |
        | git forgets one of the objects                   |
        | a link to elsewhere is in the place of the packs |

    Scenario: A damaged pack is not passed on
      Given a store with 9 checkpoints
      And a bit of a pack has turned over
      When the packs of the store are combined
      Then every pack is still what it was

    Scenario: Killed at any moment, it leaves a whole store
      When combining the packs is killed at one act after another
      Then the store was whole each time, and tidy in the end
