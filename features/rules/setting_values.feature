Feature: What settings accept
  A bad value is refused where it is written and where it is read, with the reason.

  Rule: values are read from what people type

    Scenario Outline: A value is understood
      When the user runs "agents config set <key> '<text>' --format json"
      Then the exit code is 0
      And the JSON document has
        | field      | value   |
        | data.value | <value> |

      Examples:
        | key                               | text                          | value                                 |
        | sandbox.checkpoint.auto-create-on |                               | []                                    |
        | sandbox.checkpoint.auto-create-on | []                            | []                                    |
        | sandbox.checkpoint.auto-create-on | before_step , after_subplan   | ["before_step", "after_subplan"]      |
        | sandbox.checkpoint.auto-create-on | ["after_step"]                | ["after_step"]                        |
        | sandbox.checkpoint.auto-create-on | [ "on_error", ]               | ["on_error"]                          |
        | sandbox.checkpoint.auto-create-on | on_tool_write,before_tool_execute | ["before_tool_execute"]           |
        | core.checkpoints.auto-create-on   | on_subplan_spawn              | ["on_subplan_spawn"]                  |
        | max_checkpoints_per_plan          | 1                             | 1                                     |
        | core.checkpoints.max_checkpoints_per_plan | 8                     | 8                                     |
        | core.format                       | yaml                          | "yaml"                                |
        | core.database-url                 | sqlite:////tmp/x.db           | "sqlite:////tmp/x.db"                 |

    Scenario Outline: A value is refused
      When the user runs "agents config set <key> <text>"
      Then the exit code is 10
      And the error output says "<reason>"
      And nothing was stored

      Examples:
        | key                               | text          | reason                                              |
        | sandbox.checkpoint.auto-create-on | bogus         | 'bogus' is not one of before_step, after_step,      |
        | sandbox.checkpoint.auto-create-on | before_stp    | did you mean before_step?                           |
        | sandbox.checkpoint.auto-create-on | on_error,     | '' is not one of                                    |
        | sandbox.checkpoint.auto-create-on | [1]           | 1 is not one of                                     |
        | sandbox.checkpoint.auto-create-on | [on_error     | begins like a list but is not valid                 |
        | max_checkpoints_per_plan          | 0             | it must be a whole number, 1 or more                |
        | max_checkpoints_per_plan          | many          | it must be a whole number, 1 or more                |
        | core.format                       | html          | it must be one of rich, color, table, plain         |
        | core.database-url                 | mysql://a:b@c | it must begin with sqlite: or postgresql+psycopg:   |
        | core.formt                        | json          | Did you mean `core.format`?                         |
        | core.automation-profile           | manual        | There are no automation profiles                    |
        | xyzzy                             | 1             | Unknown setting `xyzzy` on the command line         |

  Rule: a bad value is refused with the place it stands in

    Scenario Outline: A file says something invalid
      Given the user's file says "<content>"
      When the user runs "agents config list"
      Then the exit code is 10
      And the error output says "/home/config.toml"
      And the error output says "<reason>"

      Examples:
        | content                                        | reason                                  |
        | core.format = 'html'                           | `core.format` in                        |
        | core.formt = 'json'                            | Unknown setting `core.formt`            |
        | max_checkpoints_per_plan = true                | cannot be True: it must be a whole number |
        | sandbox.checkpoint.auto-create-on = 5          | it must be a list of triggers           |
        | core.database-url = 5                          | it must begin with sqlite:              |
        | core = [                                       | is not valid TOML, line 1               |
        | max_checkpoints_per_plan = 1; x                | is not valid TOML, line 1               |

    Scenario Outline: A variable says something invalid
      Given the variable <variable> is "<value>"
      When the user runs "agents config list"
      Then the exit code is 10
      And the error output says "in the variable <variable> cannot be '<value>'"

      Examples:
        | variable                                         | value |
        | CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON           | bogus |
        | CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN | -1    |
        | CLEVERAGENTS_FORMAT                              | html  |

    Scenario: A setting under two names in one file is refused
      Given the user's file says
        """
        max_checkpoints_per_plan = 1
        sandbox.checkpoint.max-checkpoints-per-plan = 2
        """
      When the user runs "agents config list"
      Then the exit code is 10
      And the error output says "is set twice, under two names"

  Rule: an empty variable is not a value, but an empty list is one

    Scenario: An empty list of triggers turns them off
      Given the variable CLEVERAGENTS_CHECKPOINT_AUTO_CREATE_ON is empty
      When the user runs "agents config get sandbox.checkpoint.auto-create-on"
      Then the output says "value	[]"

    Scenario: An empty variable leaves the default
      Given the variable CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN is empty
      When the user runs "agents config get max_checkpoints_per_plan"
      Then the output says "source	default"
