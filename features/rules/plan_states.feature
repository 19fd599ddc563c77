Feature: The states of a plan
  What can happen to a plan depends on where it is, and on nothing else.

  Scenario: These events are possible, and no others
    When every event is tried in every phase and state
    Then exactly these are possible
      | phase      | state      | event      | then                  |
      | strategize | queued     | strategize | strategize/processing |
      | strategize | processing | finish     | strategize/complete   |
      | strategize | processing | fail       | strategize/errored    |
      | strategize | complete   | execute    | execute/processing    |
      | execute    | queued     | execute    | execute/processing    |
      | execute    | processing | execute    | execute/processing    |
      | execute    | errored    | execute    | execute/processing    |
      | execute    | processing | finish     | execute/complete      |
      | execute    | queued     | finish     | execute/complete      |
      | execute    | processing | fail       | execute/errored       |
      | execute    | processing | come into conflict | execute/conflict |
      | execute    | conflict   | be resolved | execute/queued       |
      | execute    | conflict   | roll back  | execute/queued        |
      | execute    | conflict   | be corrected | strategize/queued   |
      | execute    | conflict   | be cancelled | execute/cancelled   |
      | execute    | queued     | roll back  | execute/queued        |
      | execute    | processing | roll back  | execute/queued        |
      | execute    | errored    | roll back  | execute/queued        |
      | execute    | complete   | roll back  | execute/queued        |
      | execute    | cancelled  | roll back  | execute/queued        |
      | strategize | queued     | roll back  | execute/queued        |
      | strategize | cancelled  | roll back  | execute/queued        |
      | execute    | queued     | be corrected | strategize/queued   |
      | execute    | processing | be corrected | strategize/queued   |
      | execute    | errored    | be corrected | strategize/queued   |
      | execute    | complete   | be corrected | strategize/queued   |
      | execute    | cancelled  | be corrected | strategize/queued   |
      | strategize | queued     | be corrected | strategize/queued   |
      | strategize | queued     | be cancelled | strategize/cancelled |
      | strategize | processing | be cancelled | strategize/cancelled |
      | strategize | complete   | be cancelled | strategize/cancelled |
      | strategize | errored    | be cancelled | strategize/cancelled |
      | execute    | queued     | be cancelled | execute/cancelled |
      | execute    | processing | be cancelled | execute/cancelled |
      | execute    | complete   | be cancelled | execute/cancelled |
      | execute    | errored    | be cancelled | execute/cancelled |
      | strategize | queued     | be extended | strategize/queued    |
      | strategize | complete   | be extended | strategize/complete  |
      | execute    | queued     | be extended | execute/queued       |
      | execute    | processing | be extended | execute/processing   |
      | execute    | errored    | be extended | execute/errored      |
      | execute    | conflict   | be extended | execute/conflict     |
      | execute    | complete   | be extended | execute/queued       |
      | apply      | errored    | be extended | execute/queued       |
      | apply      | constrained | be extended | execute/queued      |
      | execute    | complete   | be applied | apply/processing      |
      | apply      | processing | finish     | apply/applied         |
      | apply      | applied    | be taken out of the project | execute/complete |
      | apply      | processing | fail       | apply/errored         |
      | apply      | processing | be constrained | apply/constrained   |
      | apply      | processing | stay unapplied | execute/complete  |
      | apply      | processing | be applied | apply/processing      |
      | apply      | processing | roll back  | execute/queued        |
      | apply      | processing | be corrected | strategize/queued   |
      | apply      | processing | be cancelled | apply/cancelled     |
      | apply      | errored    | be applied | apply/processing      |
      | apply      | errored    | roll back  | execute/queued        |
      | apply      | errored    | be corrected | strategize/queued   |
      | apply      | errored    | be cancelled | apply/cancelled     |
      | apply      | constrained | be applied | apply/processing      |
      | apply      | constrained | roll back  | execute/queued        |
      | apply      | constrained | be corrected | strategize/queued   |
      | apply      | constrained | be cancelled | apply/cancelled     |
      | apply      | cancelled  | roll back  | execute/queued        |

  Scenario: The others are refused in one sentence
    When every event is tried in every phase and state
    Then every other one is refused in a sentence like `A plan in apply/applied cannot roll back`
