Feature: Reading objects without git
  A few objects are read straight from the packs, which is quicker than starting git.
  What is read so is what git would say; anything out of the ordinary is left to git.

  Rule: what git has packed is read as git reads it

    Scenario Outline: Objects packed <way> are read
      Given a repository with many versions of a file, packed <way>
      When all its objects are read without git
      Then all of them are what git says

      Examples:
        | way                                  |
        | whole                                |
        | as differences to what is before     |
        | as differences to what has a name    |
        | under an index too large to be kept  |

    Scenario: What was packed meanwhile is read too
      Given a repository with many versions of a file, packed whole
      And all its objects were read without git
      When another version is packed and all its objects are read without git
      Then all of them are what git says

    Scenario: What was combined meanwhile is read too
      Given a repository with many versions of a file, packed whole
      And another version was packed and all its objects were read without git
      When its packs are combined and all its objects are read without git
      Then all of them are what git says

  Rule: what is out of the ordinary is left to git

    Scenario Outline: Git is asked for <what>
      Given a repository with many versions of a file, packed whole
      When without git somebody reads <what>
      Then git has to be asked

      Examples:
        | what                          |
        | an object that is not there   |
        | something that is no name     |
        | an object in a file of its own |
        | a tag                         |
        | a file of 2 MB                |
        | a long chain of differences   |

    Scenario Outline: Git is asked where <file> <damage>
      Given a repository with many versions of a file, packed as differences to what is before
      And in which <file> <damage>
      When all its objects are read without git
      Then git has to be asked for at least one, and the others are what git says

      Examples:
        | file      | damage                        |
        | the index | is cut short                  |
        | the index | is of another version         |
        | the index | counts more than there can be |
        | the index | names places beyond 2 GB      |
        | the index | is a pipe                     |
        | the index | is a link                     |
        | the pack  | is gone                       |
        | the pack  | is cut short                  |
        | the pack  | has other bytes               |
        | the pack  | holds more than it says       |
        | the pack  | holds less than it says       |
