Feature: Configuration files
  A file that cannot be trusted or read stops the command; a file that cannot be written is
  left as it was.

  Rule: a project is data and may only set what it is trusted with

    Scenario Outline: A project's file is refused
      Given the project's file is <kind>
      When the user runs "agents config list"
      Then the exit code is 10
      And the error output says "<reason>"

      Examples:
        | kind                       | reason                                             |
        | a link to another file     | is a symbolic link                                 |
        | in a linked directory      | is a symbolic link                                 |
        | in a directory linked to itself | is a symbolic link                            |
        | a named pipe               | is not a regular file                              |
        | a directory                | is not a regular file                              |
        | larger than a megabyte     | is larger than 1.0 MB                              |
        | not text                   | is not UTF-8, line 2                               |
        | choosing the database      | `core.database-url` in                             |
        | choosing the format        | cannot be set by a project, only by the user       |

    Scenario Outline: What a project may not have is not written
      When the user runs "agents config <command> --project <directory>"
      Then the exit code is <code>
      And the error output says "<reason>"
      And nothing was stored

      Examples:
        | command                        | directory | code | reason                                       |
        | set core.format json           | .         | 10   | cannot be set by a project, only by the user |
        | set max_checkpoints_per_plan 3 | missing   | 2    | does not exist                               |

    Scenario: The user's own directory cannot be a project
      Given the user's file is the one in their own directory and says "core.format = 'plain'"
      When the user runs "agents config set max_checkpoints_per_plan 3 --project .."
      Then the exit code is 2
      And the error output says "is your user configuration"

    Scenario Outline: The project around the current directory is found
      Given a <mark> above the current directory, whose project keeps 20 checkpoints
      When the user runs "agents config get max_checkpoints_per_plan"
      Then the output says "value	20"

      Examples:
        | mark                    |
        | git repository          |
        | configuration directory |

  Rule: the user's file may be anywhere and look as they like

    Scenario: A key written with quotation marks is replaced, not repeated
      Given the user's file says "'core.format' = 'plain'"
      When the user runs "agents config set core.format json"
      Then the user's file says now
        """
        [core]
        format = "json"
        """

    Scenario: A linked file is changed where it really is
      Given the user's file is a link to one in their dotfiles that says "core.format = 'plain'"
      When the user runs "agents config set max_checkpoints_per_plan 3"
      Then the exit code is 0
      And the file in the dotfiles keeps 3 checkpoints
      And the user's file is still a link

    Scenario Outline: What is so already is not a failure
      Given the user's file says "core.format = 'json'"
      When the user runs "agents config <command> --format json"
      Then the JSON document has
        | field         | value      |
        | status        | "ok"       |
        | data.previous | <previous> |
      And the user's file says now
        """
        core.format = 'json'
        """

      Examples:
        | command                        | previous |
        | unset max_checkpoints_per_plan | null     |

    Scenario: Unsetting in a file that does not exist is not a failure
      When the user runs "agents config unset core.format"
      Then the exit code is 0
      And nothing was stored

  Rule: what cannot be read or written is reported by name

    Scenario Outline: The user's file is out of order
      Given the user's file is <kind>
      When the user runs "agents config <command>"
      Then the exit code is 10
      And the error output says "<reason>"

      Examples:
        | kind                             | command                        | reason                        |
        | a link to itself                 | list                           | cannot be read                |
        | a link to itself                 | set max_checkpoints_per_plan 3 | cannot be read                |
        | a link to itself                 | unset core.format              | cannot be read                |
        | under a file                     | set max_checkpoints_per_plan 3 | cannot be written             |
        | holding a value "sandbox = 1"    | set max_checkpoints_per_plan 3 | has a value where a table     |

    Scenario: A full disk leaves the file as it was
      Given the user's file says "core.format = 'plain'"
      And the disk is full
      When the user runs "agents config set core.format json"
      Then the exit code is 10
      And the error output says "cannot be written: No space left on device"
      And the user's file says now
        """
        core.format = 'plain'
        """
