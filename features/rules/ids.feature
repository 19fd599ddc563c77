Feature: How plans and checkpoints are named
  A full id, a unique beginning of one, `cp_` and either, or a place: @latest, @first, @-1, @-2.

  Background:
    Given the ids, oldest first
      | 01ARZ3NDEKTSV4RRFFQ69G5FAA |
      | 01ARZ3NDEKTSV4RRFFQ69G5FAB |
      | 01BX5ZZKBKACTAV9WEVGEMMVRZ |

  Rule: one of them is meant, or none

    Scenario Outline: <text>
      When somebody names `<text>`
      Then the id meant is <id>

      Examples: by id
        | text                          | id                         |
        | 01ARZ3NDEKTSV4RRFFQ69G5FAB    | 01ARZ3NDEKTSV4RRFFQ69G5FAB |
        | 01arz3ndektsv4rrffq69g5fab    | 01ARZ3NDEKTSV4RRFFQ69G5FAB |
        | cp_01ARZ3NDEKTSV4RRFFQ69G5FAB | 01ARZ3NDEKTSV4RRFFQ69G5FAB |
        | 01B                           | 01BX5ZZKBKACTAV9WEVGEMMVRZ |
        | CP_01bx                       | 01BX5ZZKBKACTAV9WEVGEMMVRZ |
        | 01C                           | none                       |
        | 01BX5ZZKBKACTAV9WEVGEMMVRZ0   | none                       |

      Examples: by place
        | text     | id                         |
        | @latest  | 01BX5ZZKBKACTAV9WEVGEMMVRZ |
        | @first   | 01ARZ3NDEKTSV4RRFFQ69G5FAA |
        | @-1      | 01BX5ZZKBKACTAV9WEVGEMMVRZ |
        | @-3      | 01ARZ3NDEKTSV4RRFFQ69G5FAA |
        | @-4      | none                       |
        | @-0      | none                       |
        | @0       | none                       |
        | @Latest  | none                       |

      Examples: what cannot be an id
        | text      | id   |
        | cp_       | none |
        | 01I       | none |
        | shop      | none |
        | 01B;drop  | none |
        | %         | none |
        | ０１Ｂ    | none |

  Rule: what fits several is refused with all that it fits

    Scenario: A beginning that two share
      When somebody names `cp_01AR`
      Then it is refused because `cp_01AR` matches 2 checkpoints: 01ARZ3NDEKTSV4RRFFQ69G5FAA, 01ARZ3NDEKTSV4RRFFQ69G5FAB

    Scenario: More than ten are not all listed
      Given 14 ids that begin alike
      When somebody names `7Z`
      Then the refusal counts 14 and shows the first 10
