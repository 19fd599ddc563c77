Feature: Programs that hold many files open
  `select` of the system refuses descriptors from 1,024 on, and a server may hold more files than that.

  Rule: every part works in a program that holds 1,100 files open

    Scenario: A plan with ignore rules makes its checkpoints
      Given a plan with the steps
        | step | does                                                            |
        | one  | runs `echo '*.log' > .gitignore; echo 1 > a.log; echo 1 > a.txt` |
      When a program that holds 1,100 files open runs the plan
      Then the exit code is 0
      And the sandbox is the project after `echo '*.log' > .gitignore; echo 1 > a.log; echo 1 > a.txt`

    Scenario: A large directory is copied by several processes
      Given a directory of 600 files and a directory in it
      When a program that holds 1,100 files open copies the directory
      Then the exit code is 0
      And the copy is like the directory

    Scenario: A child learns that its parent has ended
      When a program that holds 1,100 files open waits for the end of its parent
      Then the exit code is 0
