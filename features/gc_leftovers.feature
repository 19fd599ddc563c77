Feature: What killed runs leave behind is removed, and what somebody may need is not
  Temporary files, half-made sandboxes and sandboxes that no plan has go. When it is not certain
  that nobody needs something, it stays and is listed.

  Background:
    Given a plan that wrote a.txt in step one and b.txt in step two
    And space has been reclaimed

  Rule: temporary files go

    Scenario Outline: <leftover>
      Given a killed run has left <leftover>
      When the user reclaims space
      Then 1 temporary file was removed, and it is gone
      And all checkpoints can be read back

      Examples:
        | leftover                                       |
        | half of a pack that the program wrote          |
        | a draft of a ref                               |
        | a pack that the program wrote and no ref names |
        | a draft of a configuration                     |
        | a draft beside the packs                       |
        | a copy of an index                             |
        | an old draft beside a sandbox                  |
        | half a repository                              |
        | what was to become a pack                      |
        | an old temporary pack of git                   |
        | an old temporary object of git                 |
        | an old lock of git on all refs                 |
        | an old lock of git on one ref                  |
        | a lock of a killed git on all refs             |
        | a lock of a killed git on an index             |
        | an old pack without an index                   |

    Scenario Outline: <fresh> stays, git may be writing it at this moment
      Given an agent's git has <fresh>
      When the user reclaims space
      Then it is still there

      Examples:
        | fresh                                              |
        | a fresh temporary pack                             |
        | a fresh temporary object                           |
        | a fresh lock on all refs, and is alive             |
        | a fresh lock on all refs, whose process is unknown |
        | a fresh object nothing leads to                    |
        | a pack it wants to keep                            |
        | a link among the temporary files                   |

    Scenario: An old object that nothing leads to goes
      Given an agent's git has an old object nothing leads to
      When the user reclaims space
      Then it is gone

    Scenario Outline: Half a repository of a project that has no other <fate>
      Given making the store of another project has been killed
      When the user <acts>
      Then its bytes are counted, and it <fate>

      Examples:
        | acts                       | fate  |
        | reclaims space             | goes  |
        | rehearses reclaiming space | stays |

  Rule: sandboxes that are half made or half removed go, others stay

    Scenario: A sandbox of a plan that the database does not know
      Given there is a sandbox of an unknown plan
      When the user reclaims space
      Then that sandbox is kept with all its refs, and its plan is named
      And all checkpoints can be read back

    Scenario: A sandbox whose removal was killed
      Given removing a sandbox of the plan has been killed
      When the user reclaims space
      Then nothing of that sandbox is left

    Scenario: A sandbox of another kind, of a plan that the database does not know
      Given there is a directory copied for an unknown plan
      When the user reclaims space
      Then that sandbox is kept with all its refs, and its plan is named

    Scenario Outline: A sandbox that <maker> was making
      Given there is half a sandbox that <maker> was making
      When the user <acts>
      Then <bytes> of unfinished sandboxes are reported, and it is <fate>

      Examples:
        | maker            | acts                      | bytes    | fate        |
        | a killed process | reclaims space            | 40 KB    | gone        |
        | a killed process | rehearses reclaiming space | 40 KB   | still there |
        | a living process | reclaims space            | no bytes | still there |
        | a living process | rehearses reclaiming space | no bytes | still there |

    Scenario Outline: A sandbox that was finished a moment ago
      Given there is half a sandbox that has got its final name by now
      When the user <acts>
      Then no bytes of unfinished sandboxes are reported, and it is still there

      Examples:
        | acts                       |
        | reclaims space             |
        | rehearses reclaiming space |

    Scenario: A database that knows no plan of the store is not believed
      Given the database has been lost
      When the user reclaims space
      Then the exit code is 3
      And it warns that the plans of the store are unknown
      And the store is as it was

  Rule: what git in a sandbox holds is not lost

    Scenario: Stashes, staged files, rebased commits and commits without a branch stay
      Given an agent has stashed twice, staged a file, amended a commit and detached its HEAD
      When the user reclaims space
      Then the agent finds all of that again
