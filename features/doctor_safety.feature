Feature: Mending endangers nothing
  Rule: what cannot be mended is said

    Scenario Outline: <first>, and <second>
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the installation has this ailment: <first>
      And the installation has this ailment: <second>
      When the user has the installation mended
      Then the exit code is 1
      And the check "<check>" is problem: <finding>

      Examples:
        | first                                            | second                                          | check                  | finding                                        |
        | others may look into the home directory          | the system refuses to change modes              | home                   | cannot be changed: Operation not permitted     |
        | others may look into the home directory          | the home directory is of no use to this user    | home                   | cannot be read and written by this user        |
