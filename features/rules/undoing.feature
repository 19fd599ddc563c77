Feature: What can be undone and redone
  Undo reverses the last operation that is not undone yet, redo the last undo. A new rollback
  or correction is a new course: what was undone before it can no longer be redone.

  Scenario Outline: After <operations>
    Given the operations <operations>, where "U-A" means that U takes A back
    Then undo takes back <undo> and redo <redo>

    Examples: one after the other
      | operations          | undo    | redo    |
      | none                | nothing | nothing |
      | R1                  | R1      | nothing |
      | R1 C2               | C2      | nothing |
      | R1 C2 U3-C2         | R1      | U3      |
      | R1 C2 U3-C2 U4-R1   | nothing | U4      |

    Examples: redone
      | operations                      | undo | redo    |
      | R1 U2-R1 D3-U2                  | D3   | nothing |
      | R1 U2-R1 D3-U2 U4-D3            | nothing | U4   |
      | R1 R2 U3-R2 U4-R1 D5-U4         | D5   | U3      |
      | R1 R2 U3-R2 U4-R1 D5-U4 D6-U3   | D6   | nothing |

    Examples: a new course
      | operations         | undo | redo    |
      | R1 U2-R1 R3        | R3   | nothing |
      | R1 R2 U3-R2 C4     | C4   | nothing |
      | R1 U2-R1 A3        | A3   | nothing |

    Examples: an apply
      | operations            | undo    | redo    |
      | R1 A2                 | A2      | nothing |
      | R1 A2 U3-A2           | R1      | U3      |
      | A1 U2-A1 D3-U2        | D3      | nothing |
      | A1 U2-A1 D3-U2 U4-D3  | nothing | U4      |

    Examples: what did not come about does not count
      | operations       | undo | redo    |
      | R1 R2?           | R1   | nothing |
      | R1 U2-R1?        | R1   | nothing |
      | R1 U2-R1 D3-U2?  | nothing | U2   |
