Feature: Which checkpoints go first
  The state that was seen least recently and that nothing holds. The first and the newest stay, pinned ones stay, needed ones stay.

  Scenario Outline: <groups> with a limit of <limit>
    When of the groups <groups> a plan may keep <limit> and needs <needed>
    Then the groups that go are <dropped>

    Examples: the ends stay
      | groups    | limit | needed  | dropped |
      | A         | 1     | nothing | nothing |
      | A B       | 1     | nothing | A       |
      | A B       | 2     | nothing | nothing |
      | A B C     | 2     | nothing | B       |
      | A B C D E | 3     | nothing | B C     |
      | A B C D E | 1     | nothing | A B C D |
      | nothing   | 3     | nothing | nothing |

    Examples: what is pinned (in brackets) or needed stays, even beyond the limit
      | groups      | limit | needed  | dropped |
      | A [B] C D   | 3     | nothing | C       |
      | A [B] [C] D | 2     | nothing | nothing |
      | A B C D     | 3     | B       | C       |
      | A B C D     | 2     | B C     | nothing |
      | A B C       | 1     | A       | B       |

    Examples: groups of one state (after the equals sign) count once, and go and stay together
      | groups                  | limit | needed  | dropped |
      | A=s B=s C=t D=t         | 2     | nothing | nothing |
      | A=s B=s C=t D=t E=u     | 2     | nothing | C D     |
      | A=s B=t C=u D=t E=v     | 3     | nothing | C       |
      | A=s B=t C=u D=s         | 2     | nothing | B       |
      | A=s B=t [C=t] D=u E=v   | 3     | nothing | D       |
      | A=s B=t C=t D=u E=v     | 3     | B       | D       |
      | A=s B=s C=t D=t         | 1     | nothing | A B     |

    Examples: of a session, what it only passed through (~) goes first, and its end (!) never goes
      | groups            | limit | needed  | dropped |
      | A B ~C ~D E       | 3     | nothing | C D     |
      | A ~B C ~D E       | 4     | nothing | B       |
      | A ~B C ~D E       | 2     | nothing | B D C   |
      | A !B ~C !D E F    | 4     | nothing | C E     |
      | A ~B=s C=s ~D E   | 3     | nothing | D       |

  Scenario Outline: A limit of <limit> makes no sense
    When a plan may keep <limit> checkpoints at most
    Then that limit is refused

    Examples:
      | limit |
      | 0     |
      | -1    |
