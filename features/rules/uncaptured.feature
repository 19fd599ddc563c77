Feature: What snapshots say about paths that they do not hold
  A snapshot stores in words why it lacks a path, and its name is a hash over these words.
  Snapshots of earlier releases keep their names and their meaning.

  Rule: each stored text keeps its meaning

    Scenario Outline: "<text>" stands for <kind>
      When a snapshot says of a path: <text>
      Then it lacks the path for the reason <kind>

      Examples:
        | text                                               | kind         |
        | special file: fifo                                 | special_file |
        | special file: socket                               | special_file |
        | special file: device                               | special_file |
        | it was not reached before the deadline             | overdue      |
        | it kept changing while it was read                 | changing     |
        | larger than 1.0 MiB                                | too_large    |
        | the snapshots of the plan have reached their limit | plan_limit   |
        | ignored                                            | ignored      |
        | a merge in progress                                | git_state    |
        | a cherry-pick in progress                          | git_state    |
        | a revert in progress                               | git_state    |
        | a cherry-pick or revert in progress                | git_state    |
        | a rebase in progress                               | git_state    |
        | a bisection in progress                            | git_state    |
        | staged by name only                                | git_state    |
        | not the sandbox's own; a rollback moves it aside   | git_state    |
        | permission denied                                  | unreadable   |
        | it cannot be read                                  | unreadable   |
        | words of another release                           | unreadable   |

  Rule: equal states have equal names in every release

    Scenario: A snapshot of an earlier release is stored again
      Given what an earlier release stored of a sandbox, with paths that it could not hold
      When it is read, and stored in a new sandbox
      Then the snapshot has the name that the earlier release gave it
      And the snapshot is partial, because the earlier release had missed its deadline

    Scenario: This release finds the same sandbox
      Given what an earlier release stored of a sandbox, with paths that it could not hold
      When this release finds the same paths for the same reasons
      Then it would store the same bytes
