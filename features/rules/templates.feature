Feature: Placeholders
  `{{ name }}` is replaced by a value, and a name that is not known is an error
  before anything runs.

  Rule: values are inserted as they are

    Scenario Outline: A text is filled
      Given these values
        | name                   | value      |
        | who                    | world      |
        | resources.project.path | /sandbox   |
        | outputs.version        | {{ who }}  |
      When the text `<text>` is filled
      Then the result is `<result>`

      Examples:
        | text                              | result              |
        | hello                             | hello               |
        | hello {{ who }}                   | hello world         |
        | {{who}}{{ who }}                  | worldworld          |
        | {{ resources.project.path }}/a    | /sandbox/a          |
        | {{ outputs.version }}             | {{ who }}           |
        | {"a": {"b": 1}}                   | {"a": {"b": 1}}     |
        | {{ '{{' }} who }}                 | {{ who }}           |
        | {{ "{{" }}                        | {{                  |
        | { { who } }                       | { { who } }         |

    Scenario Outline: A text that cannot be filled is refused
      Given these values
        | name | value |
        | who  | world |
      When the text `<text>` is filled
      Then filling is refused because <problem>

      Examples:
        | text            | problem                                        |
        | {{ whom }}      | `{{ whom }}` is not a known placeholder                 |
        | {{ who }        | `{{` is not closed by `}}` on the same line    |
        | {{              | `{{` is not closed by `}}` on the same line    |
        | {{ a b }}       | `{{ a b }}` is not a name between braces       |
        | {{ }}           | `{{ }}` is not a name between braces           |
        | {{{ who }}}     | `{{{ who }}` is not a name between braces      |
        | {{ who.1 }}     | `{{ who.1 }}` is not a name between braces     |

  Rule: everything inside a value is filled, apart from its keys

    Scenario: A nested value
      Given these values
        | name | value |
        | who  | world |
      When a nested value is filled
      Then every text in it is filled, and its keys, numbers and flags are as before

    Scenario: Braces are read once, however many there are
      Given these values
        | name | value |
        | who  | world |
      When a text of 400000 opening braces is filled
      Then filling is refused because `{{` is not closed by `}}` on the same line

  Rule: a step knows arguments, resources and what earlier steps saved

    Scenario: An unknown name is refused with the line of its input
      Given a plan file
        """
        name: local/names
        arguments: {who: {default: you}}
        steps:
          - tool: write-file
            with:
              path: hello.txt
              content: hello {{ whom }}
        """
      When the plan file is read
      Then the file is refused on line 7 because `{{ whom }}` is not a known placeholder
      And the hint says "Did you mean `who`?"

    Scenario: A step cannot use what a later step saves
      Given a plan file
        """
        name: local/order
        steps:
          - {tool: shell, with: {command: "echo {{ outputs.version }}"}}
          - {tool: shell, with: {command: "git --version"}, save_as: version}
        """
      When the plan file is read
      Then the file is refused on line 3 because `{{ outputs.version }}` is not a known placeholder

    Scenario: An input that must be checked is checked once it is filled
      Given a plan file
        """
        name: local/modes
        arguments: {mode: {default: "0755"}}
        steps:
          - {tool: write-file, with: {path: run.sh, content: "", mode: "{{ mode }}"}}
        """
      When the plan file is read
      Then the input of step 1 is
        | input   | value      |
        | path    | run.sh     |
        | content |            |
        | mode    | {{ mode }} |

    Scenario: Names are found wherever a value holds text
      Given a plan whose input is nested and names something unknown
      When its placeholders are checked
      Then the unknown names are found at their places
