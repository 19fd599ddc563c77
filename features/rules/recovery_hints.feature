Feature: What can be done about a plan
  Hints follow from the plan's phase and state, whether a process holds it, and whether there is a
  checkpoint to go back to.

  Scenario Outline: <phase>/<state>
    Given a plan that is <phase>/<state>, <circumstance>
    When somebody asks what can be done
    Then the hints are <hints>

    Examples:
      | phase      | state       | circumstance                       | hints                         |
      | execute    | processing  | held by a process                  | wait                          |
      | strategize | queued      | with a checkpoint                  | none                          |
      | execute    | complete    | with a checkpoint                  | none                          |
      | execute    | cancelled   | with a checkpoint                  | revert                        |
      | execute    | cancelled   | without any checkpoint             | none                          |
      | execute    | errored     | with a checkpoint                  | resume, revert, cancel        |
      | execute    | errored     | with a checkpoint of its failure   | inspect, resume, revert, cancel |
      | execute    | processing  | without any checkpoint             | resume, cancel                |
      | apply      | errored     | with a checkpoint                  | apply, revert, cancel         |
      | apply      | constrained | with a checkpoint                  | apply, revert, cancel         |
      | apply      | processing  | without any checkpoint             | apply, cancel                 |
      | apply      | cancelled   | with a checkpoint                  | revert                        |
      | apply      | applied     | with a checkpoint                  | none                          |

  Scenario Outline: After an apply that failed: <phase>/<state>
    Given a plan that is <phase>/<state>, with a checkpoint
    When somebody asks what can be done after a failed apply
    Then the hints are <hints>

    Examples:
      | phase   | state       | hints                 |
      | execute | complete    | apply, revert, cancel |
      | apply   | errored     | apply, revert, cancel |
      | execute | queued      | none                  |

  Scenario Outline: A refusal in <phase>/<state> names the next command
    Given a plan that is <phase>/<state>, with a checkpoint
    When somebody asks for what its state does not allow
    Then the hint names the plan and `agents plan <command>`

    Examples:
      | phase      | state       | command   |
      | strategize | queued      | execute   |
      | strategize | complete    | execute   |
      | strategize | errored     | errors    |
      | execute    | queued      | execute   |
      | execute    | processing  | status    |
      | execute    | complete    | apply     |
      | execute    | errored     | errors    |
      | execute    | cancelled   | rollback  |
      | execute    | conflict    | conflicts |
      | apply      | processing  | apply     |
      | apply      | errored     | apply     |
      | apply      | cancelled   | rollback  |
      | apply      | constrained | errors    |
      | apply      | applied     | diff      |

  Scenario: A journal that nobody can read
    When somebody reads the journal of an apply from another program
    Then it is refused as damaged
