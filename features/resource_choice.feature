Feature: What a plan may work on
  Every resource is inspected before anything is created, and refused when a sandbox could
  not hold it whole, or when two would hold the same.

  Rule: A resource must be what the plan says it is

    Scenario Outline: A <type> that is <what>
      Given for a resource <what>
      When somebody looks at it as a <type>
      Then that is refused because <reason>

      Examples:
        | type         | what                                  | reason                              |
        | fs-directory | a missing path                        | there is no such directory          |
        | fs-directory | a loop of links                       | there is no such directory          |
        | fs-directory | a file                                | it is not a directory               |
        | fs-directory | the root of the file system           | it is or holds your home directory  |
        | fs-directory | the home directory                    | it is or holds your home directory  |
        | fs-directory | a directory that holds our own        | it holds the home directory         |
        | fs-directory | a directory inside our own            | it is part of the home directory    |
        | fs-directory | a directory that may not be read      | permission denied            |
        | fs-directory | a path through one that is closed     | permission denied            |
        | sqlite       | a missing path                        | there is no such file               |
        | sqlite       | a directory                           | it is not a file                    |
        | sqlite       | a text file                           | it is not a SQLite database         |
        | sqlite       | a file that may not be read           | it cannot be read                   |
        | sqlite       | our own database                      | it is part of the home directory    |

    Scenario Outline: A <type> that is <what> will do
      Given for a resource <what>
      When somebody looks at it as a <type>
      Then it is found to be there, with a key of its own

      Examples:
        | type         | what                     |
        | fs-directory | a directory              |
        | fs-directory | a link to a directory    |
        | sqlite       | a database               |
        | sqlite       | an empty file            |

  Rule: Two resources that hold the same share a sandbox

    Scenario Outline: <inner> is in the sandbox of <outer>
      Given a repository with a tracked file, an ignored database and an ignored directory
      When a plan names <outer> and <inner>
      Then <inner> is <place> in the sandbox of <outer>

      Examples:
        | inner                 | outer                 | place    |
        | a directory in it     | the ignored directory | `inner`  |
        | the tracked directory | the repository        | `docs/a` |
        | its top directory     | the repository        | `.`      |
        | another name for it   | the repository        | `.`      |
        | the same database     | the ignored database  | `.`      |

  Rule: Two resources may not hold the same in two sandboxes

    Scenario Outline: <one> and <other> in one plan
      Given a repository with a tracked file, an ignored database and an ignored directory
      When a plan names <one> and <other>
      Then that is refused because <reason>

      Examples:
        | one                    | other                     | reason                            |
        | the ignored database   | its hard link             | are the same                      |
        | a database in it       | the ignored directory     | lies inside                       |
        | the repository         | the tracked database      | it is in the commit               |
        | the repository         | its git data              | it belongs to the repository      |

    Scenario Outline: <one> and <other> have nothing in common
      Given a repository with a tracked file, an ignored database and an ignored directory
      When a plan names <one> and <other>
      Then that is fine

      Examples:
        | one                    | other                     |
        | the repository         | the ignored database      |
        | the ignored directory  | the repository            |
        | the ignored directory  | the ignored database      |
        | the empty repository   | a directory in that       |
