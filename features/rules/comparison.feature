Feature: Judging a comparison with other tools
  Ours may cost no more than a share of the fastest technique that brings the files back.

  Rule: restores decide how far a technique can be trusted

    Scenario Outline: After a restore, <what> is wrong
      When a restore leaves <what> wrong
      Then the technique is <standing>

      Examples:
        | what                             | standing   |
        | nothing                          | exact      |
        | a permission bit                 | near-exact |
        | an empty directory               | near-exact |
        | a directory of empty directories | near-exact |
        | the permission to execute        | inexact    |
        | a byte                           | inexact    |
        | a link                           | inexact    |
        | a file that should be gone       | inexact    |
        | a file that should be there      | inexact    |
        | a link in place of a file        | inexact    |

    Scenario Outline: A restore is found out that left <what>
      Given a tree that was read
      When afterwards there is <what>
      Then another look finds that it differs

      Examples:
        | what                                             |
        | another byte in a file, and its old times        |
        | another mode                                     |
        | another file of the same size in a file's place  |
        | a link to elsewhere                              |
        | one directory less                               |

    Scenario: What was not touched looks the same
      Given a tree that was read
      When afterwards there is nothing else
      Then another look finds that nothing differs

  Rule: ours is held against the fastest that counts

    Background:
      Given a tree of 10,000 files on which these took so many milliseconds
        | technique    | nothing changed | restores are | watches |
        | Quick        | 10              | inexact      | no      |
        | Watchful     | 20              | exact        | yes     |
        | Thorough     | 40, 90, 30      | near-exact   | no      |
        | Unmeasured   |                 | exact        | no      |

    Scenario Outline: Ours takes <ours> ms <where>
      Given ours, <where>, took <ours> milliseconds
      When the comparison is judged
      Then ours costs <ratio> of <rival>, and the limit of <limit> is <verdict>

      Examples:
        | ours    | where                 | ratio | rival    | limit | verdict |
        | 3       | inside a running plan | 0.15  | Watchful | 0.15  | kept    |
        | 4       | inside a running plan | 0.20  | Watchful | 0.15  | missed  |
        | 9, 1, 3 | inside a running plan | 0.15  | Watchful | 0.15  | kept    |
        | 52      | from a new process    | 1.30  | Thorough | 1.3   | kept    |
        | 60      | from a new process    | 1.50  | Thorough | 1.3   | missed  |

    Scenario: What is missed is said in sentences
      Given ours, inside a running plan, took 10 milliseconds
      And 1,300 bytes where 200 are allowed
      When the comparison is judged
      Then the command fails with these sentences
        """
        10,000 files: checkpoint, nothing changed (ours, inside a running plan) costs 0.50 of Watchful, the limit is 0.15
        memory a file: 1,300.00 bytes, the limit is 200
        """

    Scenario: An inexact restore by CleverAgents is a failure, however fast
      Given ours, inside a running plan, took 1 milliseconds and is near-exact
      When the comparison is judged
      Then the command fails with these sentences
        """
        10,000 files: CleverAgents is near-exact
        """

    Scenario: A kind of change that a session in place does not restore is a failure
      Given ours, inside a running plan, took 1 milliseconds
      And a session in place took back an ignored file, but did not bring it again
      When the comparison is judged
      Then the command fails with these sentences
        """
        CleverAgents, `agents run -i` does not restore an ignored file: the tree differs
        """

  Rule: limits go by the size of the tree

    Scenario Outline: The limit for 1 changed file among <files>
      When the limit for 1 changed file among <files> is asked for, <where>
      Then ours may cost <limit> of the fastest

      Examples:
        | files   | where                 | limit |
        | 999     | inside a running plan | none  |
        | 1,000   | inside a running plan | 0.6   |
        | 9,999   | inside a running plan | 0.6   |
        | 10,000  | inside a running plan | 0.2   |
        | 100,000 | inside a running plan | 0.05  |
        | 100,000 | from a new process    | 1.2   |

  Rule: the page shows what was measured

    Scenario: A table of ratios, and who is beside it
      Given a tree of 10,000 files on which these took so many milliseconds
        | technique | nothing changed | restores are | watches |
        | Thorough  | 40              | near-exact   | no      |
      And ours, inside a running plan, took 10 milliseconds
      And rsync was not there
      When the page is written
      Then it holds these lines
        """
        | ours / fastest that counts  |             10,000 files |
        | --------------------------- | -----------------------: |
        | checkpoint, nothing changed | 0.25 (≤ 0.15) **missed** |
        - rsync --link-dest: rsync is not installed
        ## 10,000 files
        """

    Scenario: A table of the kinds of change
      Given a tree of 10,000 files on which these took so many milliseconds
        | technique | nothing changed | restores are | watches |
        | Thorough  | 40              | exact        | no      |
      And a session in place took back an ignored file, but did not bring it again
      And "Thorough" failed at it, "Simple" left a permission bit wrong, and "Exact" nothing
      When the page is written
      Then it holds these lines
        """
        |                 | CleverAgents, `agents run -i` | Thorough | Simple | Exact |
        | --------------- | ----------------------------: | -------: | -----: | ----: |
        | an ignored file |                     not again |   failed | nearly |   yes |
        """
