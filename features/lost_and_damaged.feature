@disk
Feature: What is lost or damaged is noticed before anything is touched
  Stored bytes are checked before a rollback begins. Memory that only saves work may be lost at any time.

  Background:
    Given a sandbox in which the agent has run `echo 1 > a; mkdir d; echo 2 > d/b; git add a`
    And there is a checkpoint, and then the agent has run `echo 3 > a; rm -r d; git commit -qam x`

  Rule: Damage to the store is noticed

    Scenario Outline: <damage>
      Given the store has been damaged: <damage>
      When the user wants to go back
      Then it fails, because <reason>
      And the sandbox is as the agent left it

      Examples:
        | damage                              | reason                                     |
        | the bytes of a file are gone        | missing in                                 |
        | the bytes of a file are others      | is damaged                                 |
        | the bytes of a file are cut off     | missing in                                 |
        | the tree is gone                    | missing in                                 |
        | the document is gone                | missing in                                 |
        | the snapshot is another commit      | is not a snapshot                          |
        | the document is another's           | does not hold what it lists                |
        | the document is not one              | cannot be read                             |
        | a staged file is gone               | missing in                                 |
        | the repository is gone              | is not known to its private repository     |
        | the commit of HEAD is gone          | missing in                                 |
        | the commit of HEAD has other bytes  | is damaged                                 |

    Scenario Outline: It is named with its place: <damage>
      Given the store has been damaged: <damage>
      When the user wants to go back
      Then the error names an object of the private repository

      Examples:
        | damage                              |
        | the tree is gone                    |
        | the bytes of a file are others      |

    Scenario Outline: Verifying finds it: <damage>
      Given the store has been damaged: <damage>
      When the user has the checkpoint verified
      Then it fails, because <reason>

      Examples:
        | damage                              | reason                                     |
        | the bytes of a file are others      | is damaged                                 |
        | a staged file is gone               | missing in                                 |
        | a staged file has other bytes       | is damaged                                 |
        | the commit of HEAD is gone          | is damaged or incomplete in                |
        | the commit of HEAD is empty         | is damaged or incomplete in                |
        | the commit of HEAD has other bytes  | is damaged                                 |
        | a commit before HEAD is gone        | is damaged or incomplete in                |
        | a file of HEAD has other bytes      | is damaged                                 |
        | a file of HEAD is gone              | is damaged or incomplete in                |
        | an earlier file is gone             | is damaged or incomplete in                |

    Scenario Outline: <fault> is not proof
      Given the circumstance that <fault>
      When the user wants to go back
      Then it fails, because missing in
      And the sandbox is as the agent left it

      Examples:
        | fault                               |
        | git dies before it is asked         |
        | git dies in the middle of an answer |

    Scenario: A rollback that did not take is not called verified
      Given the circumstance that nothing can be written, and nobody says so
      When the user wants to go back
      Then the report lists what is not as it should be

  Rule: The memory of what was read may be lost, damaged or out of date

    Scenario Outline: <loss>
      Given the memory of the scan has suffered: <loss>
      When the user wants to go back
      Then the sandbox is exactly as it was, and so it is when that is undone

      Examples:
        | loss                                |
        | it is gone                          |
        | it is empty                         |
        | it is cut off                       |
        | it is not what was written          |
        | it is a directory                   |
        | its snapshot was pruned             |

  Rule: A sandbox that is not there, or is not ours, is not written to

    Scenario Outline: <loss>
      Given the sandbox has suffered: <loss>
      When the user wants to go back
      Then it fails, because <reason>
      And the file outside still holds `theirs`

      Examples:
        | loss                                | reason                                     |
        | it is gone                          | is missing                      |
        | it is a link to elsewhere           | is missing                      |
        | it is a file                        | is missing                      |
        | another sandbox is in its place     | is not known to its private repository     |

  Rule: A sandbox whose own git is damaged loses neither checkpoints nor undo
    Files are files. What is damaged of git is listed, and a rollback repairs it.

    Scenario Outline: <damage>
      Given the git of the sandbox has suffered: <damage>
      When the user saves the sandbox, goes back, and undoes that
      Then each checkpoint is whole, each state is exact, and git works again
      And the checkpoint of the damage did not capture <lost>

      Examples:
        | damage                              | lost                                       |
        | the index is cut off                | .git/index                                 |
        | the index lost its second half      | .git/index                                 |
        | the index is empty                  | .git/index                                 |
        | the index is garbage                | .git/index                                 |
        | the index is a directory            | .git/index                                 |
        | the index is a FIFO                 | .git/index                                 |
        | a staged file was never stored      | .git/index                                 |
        | HEAD is garbage                     | .git/HEAD                                  |
        | HEAD is gone                        | .git/HEAD                                  |
        | HEAD is detached at nothing         | .git/HEAD                                  |
        | the branch is empty                 | .git/HEAD                                  |
        | the last commit is empty            | .git/HEAD                                  |
        | a file of the last commit is gone   | .git/HEAD                                  |
        | the link to git is gone             | .git                                       |
        | the link to the repository is gone  | .git/HEAD, .git/commondir                  |
        | the link to the sandbox is gone     | .git/gitdir                                |
        | its repository forgot it            | .git/HEAD, .git/commondir, .git/gitdir, .git/index |
        | a file is in that place             | .git/HEAD, .git/commondir, .git/gitdir, .git/index |
        | nothing of git is left              | .git, .git/HEAD, .git/commondir, .git/gitdir, .git/index |

    Scenario: A git that is killed is not damage
      Given a sandbox in which the agent has run `git commit -q --allow-empty -m new`
      And the circumstance that git is killed when it is asked for HEAD
      When the user wants to checkpoint
      Then it fails, because `git symbolic-ref` failed with status -9

    Scenario: A child plan starts from a sandbox whose git is damaged
      Given the git of the sandbox has suffered: its repository forgot it
      When a child plan starts from the sandbox
      Then the child's sandbox has the same files, and git works there

  Rule: It does not matter where and when it is done

    Scenario Outline: <circumstance>
      Given the circumstance that <circumstance>
      When the user wants to go back
      Then the sandbox is exactly as it was, and so it is when that is undone

      Examples:
        | circumstance                                   |
        | the user is in a directory of the sandbox      |
        | the user is in a directory that was deleted    |
        | another plan of the project is at work         |
        | the system cannot flush one file system alone  |
        | a removal of the sandbox before it was killed  |

    Scenario Outline: Rules that git would wait for without end are empty rules: <path>
      Given a sandbox in which the agent has run `<before>`
      When the agent runs `echo 1 > in/later; echo 2 > in/d/later`, and then the sandbox is rolled back
      Then the sandbox is exactly as it was, and so it is when that is undone
      And the checkpoint says it did not capture <path> (special file: fifo)

      Examples:
        | before                                            | path            |
        | mkdir -p in/d; rm -f .gitignore; mkfifo .gitignore | .gitignore      |
        | mkdir -p in/d; mkfifo in/d/.gitignore             | in/d/.gitignore |
        | mkdir -p in/d; mkfifo -m 0 in/.gitignore          | in/.gitignore   |

    Scenario: Other rules stay in force beside a FIFO
      Given a sandbox in which the agent has run `mkdir d; mkfifo d/.gitignore; echo '*.log' > .gitignore`
      When the agent runs `echo precious > d/x.log`, and then the sandbox is rolled back
      Then what was left alone is d/.gitignore (special file: fifo), d/x.log (ignored)
      And afterwards the agent's `cat d/x.log` says `precious`

    Scenario: A git that does not end is not waited for
      Given a sandbox in which the agent has run `echo 1 > new`
      And the circumstance that git never answers
      When the user wants to checkpoint, and waits a second
      Then it fails, because it was still running after 1 seconds
