@disk
Feature: Finding out what has changed
  The system reports changes to a running plan; a new process finds out by one look at change
  times. Either way a checkpoint holds exactly what is there, and says what it rests on.

  Rule: every kind of change is seen

    Scenario Outline: <change>, found by a <how>
      Given a sandbox in which the agent has run `<before>`
      And a <how> of the sandbox has begun
      When the agent runs `<after>`, and then there is a checkpoint
      Then the checkpoint rests on <how> and is exact

      Examples: watched
        | how   | change                          | before                       | after                            |
        | watch | A file is made                  | true                         | echo 1 > new                     |
        | watch | A file is written to            | echo 1 > f                   | echo 2 >> f                      |
        | watch | Same size and same time         | echo 1 > f; touch -d @1 f    | echo 2 > f; touch -d @1 f        |
        | watch | Only a mode                     | echo 1 > f                   | chmod 600 f; chmod 700 src       |
        | watch | The mode of the sandbox itself  | true                         | chmod 750 .                      |
        | watch | A file is deleted               | echo 1 > f                   | rm f                             |
        | watch | A file is renamed               | echo 1 > f                   | mv f g                           |
        | watch | Another is renamed over a file  | echo 1 > f                   | echo 2 > .f; mv .f f             |
        | watch | A directory is renamed          | mkdir -p d/e; echo 1 > d/e/f | mv d z; echo 2 > z/e/f; echo 3 > z/e/g |
        | watch | A directory is renamed, then changed | mkdir -p d/e; echo 1 > d/e/f | mv d c; sleep 0.05; echo 2 > c/e/f |
        | watch | A directory comes in from outside | mkdir -p "$OUTSIDE/d/e"; echo 1 > "$OUTSIDE/d/e/f"; sleep 0.1 | mv "$OUTSIDE/d" d                |
        | watch | A directory goes out and comes back | mkdir -p d/e; echo 1 > d/e/f | mv d "$OUTSIDE/d"; echo 2 > "$OUTSIDE/d/e/f"; mv "$OUTSIDE/d" d |
        | watch | Two directories change places   | mkdir -p a/x b/x; echo 1 > a/x/f; echo 2 > b/x/f; sleep 0.1 | mv a c; mv b a; mv c b           |
        | watch | Two below others change places  | mkdir -p p/a/x p/b/x; echo 1 > p/a/x/f; echo 2 > p/b/x/f; sleep 0.1 | mv p/a c; mv p/b p/a; mv c p/b   |
        | watch | A directory is removed and made again | mkdir -p d/e; echo 1 > d/e/f | rm -r d; mkdir d; echo 2 > d/f   |
        | watch | Deep directories and files at once | true                         | mkdir -p a/b/c/d/e; echo 1 > a/b/c/d/e/f; echo 2 > a/b/g |
        | watch | Another process fills a new directory | true                         | write 300 files while a directory is made beside them |
        | watch | A link changes where it leads   | ln -s a l                    | ln -sfn b l                      |
        | watch | A directory becomes a file and one a link | mkdir d e; echo 1 > d/f; echo 1 > e/f | rm -r d e; echo 2 > d; ln -s d e |
        | watch | An empty directory comes and one goes | mkdir -p d/e                 | rmdir d/e; mkdir -p f/g          |
        | watch | 1,000 directories, one in the other | p=d; for i in $(seq 999); do p=$p/d; done; mkdir -p $p; echo 1 > $p/f | mv d e; touch e/f                |
        | watch | An ignored file and the rule for it | echo '*.log' > .gitignore; echo 1 > a.log; mkdir d; echo 1 > d/b.log | echo '*.x' > .gitignore; echo 2 > d/c.log |
        | watch | Something in it is not | echo '*.log' > .gitignore; mkdir -p d/c; chmod 700 d; echo 1 > d/c/a.log | echo 1 > d/c/a |
        | watch | What is ignored is added to git | echo '*.log' > .gitignore; echo 1 > a.log | git add -f a.log                 |

      Examples: found
        | how  | change                         | before                        | after                            |
        | scan | A file is made                 | true                          | echo 1 > new                     |
        | scan | Same size and same time, right afterwards | echo 1 > f; touch -d @1 f     | echo 2 > f; touch -d @1 f        |
        | scan | Same size and same time, later | echo 1 > f; touch -d @1 f     | sleep 0.1; echo 2 > f; touch -d @1 f |
        | scan | Only a mode                    | echo 1 > f                    | sleep 0.1; chmod 600 f; chmod 700 src |
        | scan | The mode of the sandbox itself | true                          | sleep 0.1; chmod 750 .           |
        | scan | A file is deleted              | echo 1 > f                    | rm f                             |
        | scan | Another is renamed over a file | echo 1 > .f; echo 1 > f       | sleep 0.1; mv .f f               |
        | scan | A directory comes in with old times | mkdir -p "$OUTSIDE/d/e"; echo 1 > "$OUTSIDE/d/e/f"; sleep 0.1 | mv "$OUTSIDE/d" d                |
        | scan | A directory takes another's place | make d, and another d outside | rm -r d; mv "$OUTSIDE/d" d       |
        | scan | Two directories change places  | mkdir -p a/x b/x; echo 1 > a/x/f; echo 2 > b/x/f; sleep 0.1 | mv a c; mv b a; mv c b           |
        | scan | A directory is removed and made again | mkdir -p d/e; echo 1 > d/e/f  | rm -r d; mkdir d; echo 2 > d/f   |
        | scan | A directory becomes a file and one a link | mkdir d e; echo 1 > d/f; echo 1 > e/f | rm -r d e; echo 2 > d; ln -s d e |
        | scan | A write through a hard link from outside | echo 1 > f; ln f "$OUTSIDE/f" | sleep 0.1; echo 2 > "$OUTSIDE/f" |
        | scan | An ignored file and the rule for it | echo '*.log' > .gitignore; echo 1 > a.log; mkdir d; echo 1 > d/b.log | echo '*.x' > .gitignore; echo 2 > d/c.log |
        | scan | 300 directories and 600 that are ignored | make 600 ignored directories and 300 others | sleep 0.1; echo 2 > many/d5/f; rm -r many/d6; mv many/d7 many/d8/in |
        | scan | 1,600 directories, changed here and there | make 1,600 directories        | sleep 0.1; echo 1 > a7/3/f; mv a8 a9/in; mkdir b40/x; rmdir b1/1 |

    Scenario Outline: A file with <names> is written to under one of its names
      Given a sandbox in which the agent has run `mkdir d; echo 1 > f; <before>`
      And a watch of the sandbox has begun
      And the agent has changed one file, and there was a checkpoint
      When the agent runs `<after>`, and then there is a checkpoint
      Then the checkpoint rests on <evidence> and is exact

      Examples:
        | names                   | before                      | after                          | evidence |
        | two names               | ln f d/g                    | echo 2 > f                     | watch    |
        | two names, and a new one | ln f d/g                   | echo 2 > d/g; ln f d/h         | scan     |
        | a name that is new      | true                        | ln f d/g; echo 2 > d/g         | scan     |
        | a name that came before | true                        | ln f d/g; chmod 600 d/g; rm f  | watch    |
        | a name that is gone     | ln f d/g                    | echo 2 > d/g; rm d/g           | watch    |
        | a name whose directory is gone | ln f d/g             | echo 2 > d/g; rm -r d          | watch    |
        | a name that is replaced | ln f d/g                    | echo 2 > d/g; echo 3 > e; mv e d/g | watch |
        | a name that came and went | true                      | ln f d/g; echo 2 > d/g; rm d/g | scan     |
        | a name that came and was replaced | true              | ln f d/g; echo 2 > d/g; echo 3 > e; mv e d/g | scan |
        | a name that came and was moved away | true            | ln f g; echo 2 > g; mv g ../g; rm ../g | scan |
        | a name that came and changed its mode | true          | ln f d/g; chmod 600 d/g; rm d/g | scan    |
        | no other name, but a draft | true                     | echo 2 > draft; mv draft f     | watch    |

    Scenario Outline: Another directory in the sandbox's place, with old times
      Given a sandbox in which the agent has run `cp -a . ../other; echo 2 > ../other/README.md; echo 3 > ../other/src/main.py; sleep 0.1`
      And a <how> of the sandbox has begun
      When the agent runs `cd ..; mv project was; mv other project`, and then there is a checkpoint
      Then the checkpoint rests on complete and is exact

      Examples:
        | how   |
        | watch |
        | scan  |

  Rule: where there is no watch, or it fails, everything is found by looking

    Scenario Outline: A plan runs, and <handicap>
      Given a sandbox in which the agent has run `mkdir -p d/e; echo 1 > d/f`
      And the system is such that <handicap>
      And a watch of the sandbox has begun
      When the agent runs `mkdir -p n/m/o; echo 1 > n/m/o/f; echo 2 > d/f; mv d/e e`, and then there is a checkpoint
      Then the checkpoint rests on <evidence> and is exact

      Examples:
        | handicap                       | evidence |
        | the system has no watches left | scan     |
        | the system has 3 watches left  | scan     |
        | the system has no queue left   | scan     |
        | the system cannot watch at all | scan     |

    Scenario Outline: While a plan runs, <handicap>
      Given a sandbox in which the agent has run `mkdir -p d/e "$OUTSIDE/old/in/it"; echo 1 > d/f; echo 1 > "$OUTSIDE/old/in/it/f"; sleep 0.1`
      And a watch of the sandbox has begun
      And the system is such that <handicap>
      When the agent runs `mkdir n; echo 1 > n/f; echo 2 > d/f; mv "$OUTSIDE/old" d/e/old`, and then there is a checkpoint
      Then the checkpoint rests on <evidence> and is exact

      Examples:
        | handicap                   | evidence |
        | the system has lost events | scan     |

    Scenario: So much happens that the system does not tell of it all
      Given a watch of the sandbox has begun
      When more changes are made than the system reports, and then a checkpoint is made
      Then the checkpoint rests on scan and is exact

    Scenario Outline: A new process finds that <handicap>
      Given a sandbox in which the agent has run `mkdir -p d/e; echo 1 > d/f; for n in $(seq 200); do mkdir -p many/$n; done`
      And a scan of the sandbox has begun
      And the system is such that <handicap>
      When the agent runs `mkdir n; echo 1 > n/f; echo 2 > d/f; mv d/e many/5/e`, and then there is a checkpoint
      Then the checkpoint rests on <evidence> and is exact

      Examples:
        | handicap                                 | evidence |
        | the clock has been set back              | complete |
        | the machine has been restarted           | complete |
        | the file system knows only whole seconds | complete |
        | the system cannot watch at all           | scan     |
        | `find` is not there                      | scan     |
        | `find` is of another kind                | scan     |

  Rule: what the system does not tell of is found at the end of a run

    Scenario Outline: <change> from outside
      Given a sandbox in which the agent has run `echo 1 > f; ln f "$OUTSIDE/f"`
      And a watch of the sandbox has begun
      When the agent's `<command>` is not reported, and everything is read once more
      Then what had been missed is f
      And the checkpoint rests on watch and is exact

      Examples:
        | change         | command                  |
        | Another text   | echo 2 > "$OUTSIDE/f"    |
        | Another mode   | chmod 600 "$OUTSIDE/f"   |

    Scenario: A file that a program keeps mapped in memory
      Given a watch of the sandbox has begun
      When a program writes to README.md and keeps using it, and everything is checked again
      Then what had been missed is README.md
      And the checkpoint rests on watch and is exact

    Scenario: The user is warned of it
      Given a plan with the steps
        | step | does                                          |
        | one  | runs `ln README.md OUTSIDE/link; sleep 0.1`   |
        | two  | runs `echo changed > OUTSIDE/link`            |
      When the user runs the plan
      Then the exit code is 0
      And it warns that "The file watch missed changes in `project`; only the last checkpoint has them: README.md"
      And the sandbox is as it was at "after execution"

  Rule: what costs nothing is free

    Scenario Outline: A checkpoint when <paths> has changed
      Given a watch of the sandbox has begun
      And the agent has changed one file, and there was a checkpoint
      When <paths> changes, and a checkpoint may start no process
      Then the checkpoint rests on watch and is exact

      Examples:
        | paths                     |
        | nothing                   |
        | README.md                 |
        | README.md and src/main.py |

    Scenario: Nothing is stored when nothing has changed
      Given a watch of the sandbox has begun
      And the agent has changed one file, and there was a checkpoint
      When nothing changes, and a checkpoint may start no process
      Then nothing has been stored for it

  Rule: the record says what a checkpoint rests on

    Scenario: In a run all but the first are watched
      Given a plan that wrote a.txt in step one and b.txt in step two
      When the user lists the checkpoints
      Then the checkpoints rest on watch

    Scenario: A checkpoint by hand is found by looking
      Given a plan that wrote a.txt in step one and b.txt in step two
      And the user has changed the sandbox by `echo 1 > c.txt`
      And a checkpoint "mine" has been made by hand
      When the user lists the checkpoints
      Then the checkpoints rest on scan and watch

    @service
    Scenario: A program that ends without letting go of its watch ends all the same
      When a program ends while it watches a directory
      Then the exit code is 0
