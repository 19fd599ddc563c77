Feature: Configuration
  A setting has one value in force, and the user can always see where it comes from: an
  option, the environment, the project's file, the user's file, or the default.

  Rule: the strongest level wins

    Scenario Outline: Each level is stronger than the next
      Given the user's file keeps <user> checkpoints, the project's <project>, the environment <variable>
      When the user runs "agents config get max_checkpoints_per_plan --format json"
      Then the JSON document has
        | field       | value                                         |
        | data.key    | "sandbox.checkpoint.max-checkpoints-per-plan" |
        | data.value  | <value>                                       |
        | data.source | <source>                                      |

      Examples:
        | user    | project | variable | value | source        |
        | default | default | default  | 50    | "default"     |
        | 10      | default | default  | 10    | "global"      |
        | 10      | 20      | default  | 20    | "project"     |
        | 10      | 20      | 30       | 30    | "environment" |

    Scenario: The whole chain can be shown
      Given the user's file keeps 10 checkpoints, the project's 20, the environment default
      When the user runs "agents config get max_checkpoints_per_plan --verbose --format table"
      Then the output says "| project     | 20    | "
      And the output says "| global      | 10    | "
      And the output says "| default     | 50    | "
      And the output says "| environment |       | "

    Scenario: An option is the strongest of all
      Given the variable CLEVERAGENTS_FORMAT is "table"
      When the user runs "agents config get core.format --format json"
      Then the JSON document has
        | field       | value          |
        | data.value  | "json"         |
        | data.source | "flag"         |
        | data.origin | "command line" |

    Scenario: All settings can be listed, without passwords
      Given the variable CLEVERAGENTS_DATABASE_URL is "postgresql+psycopg://me:secret@host/db"
      When the user runs "agents config list"
      Then the output says "core.database-url	postgresql+psycopg://me:***@host/db	environment	CLEVERAGENTS_DATABASE_URL"
      And the output says "sandbox.checkpoint.max-checkpoints-per-plan	50	default"
      And the output does not say "secret"

    Scenario: A password among the options of a database is not printed either
      Given the variable CLEVERAGENTS_DATABASE_URL is "postgresql+psycopg://me@host/db?sslmode=require&password=secret&connect_timeout=3"
      When the user runs "agents config list"
      Then the output says "postgresql+psycopg://me@host/db?sslmode=require&password=***&connect_timeout=3"
      And the output does not say "secret"

    Scenario: An error about a database does not print the password of its key
      Given the variable CLEVERAGENTS_DATABASE_URL is "postgresql+psycopg://me@127.0.0.1:1/db?sslpassword=secret"
      When the user runs "agents doctor --quick"
      Then the output does not say "secret"
      And the error output does not say "secret"

    Scenario: The user's own directory is not a project
      Given the user's file is the one in their own directory and says "core.format = 'table'"
      When the user runs "agents config get core.format"
      Then the exit code is 0
      And the output says "| source      | global"

  Rule: changing a setting changes nothing else

    Scenario: Setting a value keeps the comments of the file
      Given the user's file says
        """
        # mine
        [sandbox.checkpoint]  # kept
        max_checkpoints_per_plan = 5
        auto-create-on = ["on_error"]
        """
      When the user runs "agents config set max_checkpoints_per_plan 7 --format json"
      Then the user's file says now
        """
        # mine
        [sandbox.checkpoint]  # kept
        auto-create-on = ["on_error"]
        max-checkpoints-per-plan = 7
        """
      And the JSON document has
        | field         | value    |
        | data.value    | 7        |
        | data.previous | 5        |
        | data.scope    | "global" |

    Scenario: The first setting makes a private home directory
      When the user runs "agents config set core.format plain"
      Then the exit code is 0
      And only the user can read the home directory and its file
      And the user's file says now
        """
        [core]
        format = "plain"
        """

    Scenario: A project can have its own value
      When the user runs "agents config set sandbox.checkpoint.auto-create-on on_tool_write,on_error --project ."
      Then the exit code is 0
      And the project's file says now
        """
        [sandbox.checkpoint]
        auto-create-on = ["before_tool_execute", "on_error"]
        """

    Scenario: A change without effect is pointed out
      Given the user's file keeps default checkpoints, the project's 20, the environment 30
      When the user runs "agents config set max_checkpoints_per_plan 7"
      Then the exit code is 0
      And the error output says "is still 30 here: CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN overrides it"

    Scenario: Unsetting goes back to the next level
      Given the user's file keeps 10 checkpoints, the project's 20, the environment default
      When the user runs "agents config unset max_checkpoints_per_plan --project . --format json"
      Then the project's file is without settings
      And the JSON document has
        | field         | value     |
        | data.value    | null      |
        | data.previous | 20        |
        | data.scope    | "project" |

    Scenario: A setting that stops everything can be fixed
      Given the user's file says
        """
        core.format = "bogus" # why
        unknown.key = 1
        """
      When the user runs "agents config set core.format json"
      Then the exit code is 0
      And the user's file says now
        """
        core.format = "json" # why
        unknown.key = 1
        """

  Rule: old names go on working, with a warning

    Scenario: An old name in a file is understood
      Given the user's file says
        """
        [core.checkpoints]
        max_checkpoints_per_plan = 5
        auto_create_on = ["on_tool_write_complete"]
        """
      When the user runs "agents config list"
      Then the output says "max-checkpoints-per-plan	5	global"
      And the output says "auto-create-on	after_tool_execute	global"
      And the error output says "Warning: `core.checkpoints.auto_create_on` in"
      And the error output says "is now called `sandbox.checkpoint.auto-create-on`"
