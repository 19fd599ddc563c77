@disk
Feature: Large directories are copied by several processes
  Threads would wait for each other. What the processes copy is as exact as what one
  copies alone, and none of them outlives the command.

  Rule: The copy is exact

    Scenario Outline: A large directory holds <what>
      Given a large directory made by `<command>`
      When a plan gets the sandbox called filesystem_copy
      Then the sandbox is the directory, bit for bit, and the directory is untouched
      And other processes have helped

      Examples:
        | what                   | command                                                           |
        | nested and empty ones  | mkdir -p a/b/c d; echo 1 > a/b/f; : > d/empty                     |
        | all permission bits    | mkdir d s; echo 1 > d/f; chmod 6755 d/f; chmod 1777 s             |
        | closed directories     | mkdir -p a/b; echo 1 > a/b/f; chmod 500 a/b; chmod 555 a          |
        | links, whole or broken | mkdir d; ln -s /nowhere d/b; ln -s .. d/up; ln -s b d/l           |
        | odd names              | mkdir "$(printf 'a\n b\377')"; echo 1 > "$(printf 'a\n b\377')/ " |
        | many directories       | for i in $(seq 90); do mkdir -p $i/x; echo $i > $i/x/f; done      |

    Scenario: Special files are left out and named
      Given a large directory made by `mkdir d; mkfifo d/pipe`
      When a plan gets the sandbox called filesystem_copy
      Then the sandbox says that it lacks `d/pipe`, a special file: fifo
      And other processes have helped

    Scenario: Where no process can be started, one copies everything
      Given a large directory made by `mkdir -p a/b; echo 1 > a/b/f`
      And the processes that help cannot be started
      When a plan gets the sandbox called filesystem_copy
      Then the sandbox is the directory, bit for bit, and the directory is untouched

  Rule: A copy is whole or not there

    Scenario Outline: <fault>
      Given a large directory made by `mkdir d; echo 1 > d/f`
      And it will happen that <fault>
      When a plan gets the sandbox called filesystem_copy
      Then that is refused because <reason>
      And no trace of the sandbox is left

      Examples:
        | fault                              | reason                     |
        | a process that helps is killed     | has ended early            |
        | a process that helps finds a file  | File exists                |
        | a file is closed when it is copied | `d/f` in it cannot be read |

    Scenario: The processes that help end when theirs is killed
      Given processes that help somebody to copy
      When that one is killed
      Then the processes that helped end too

    Scenario: What a killed process leaves is no longer written to
      Given a directory made by `mkdir d; echo 1 > d/f`
      When a process that helps is asked for it after its own was killed
      Then it has ended, and nothing was copied
