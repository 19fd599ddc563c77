@disk
Feature: Disks that fill at any write
  The disk of the project or of the home directory fills at each page that a command writes in turn.
  The command ends with an error, never as a bug. The project is as before or as after, down to
  its index, refs and reflogs, and the same command succeeds when there is room again.
  So are the sandboxes: a rollback or an undo reserves its room before it changes the first file.
  `behave -D sweep=whole` tries every number of free pages and inodes, otherwise a few.

  Rule: the project's disk

    Scenario: An apply
      Given a plan whose result will be applied, and the project on a small disk
      When the command is tried with ever more free pages, until it succeeds
      Then nothing was lost in any try, and the command succeeded when there was room

    Scenario Outline: The disk is full when the apply is at each of its points, and the apply <goes>
      Given a plan whose result will be applied, and the project on a small disk
      When the disk fills when the apply is at each of its points, and the apply <goes>
      Then nothing was lost in any try, and the command succeeded when there was room

      Examples:
        | goes      |
        | continues |
        | fails     |

    Scenario: The undo of an apply
      Given a plan whose apply is undone, and the project on a small disk
      When the command is tried with ever more free pages, until it succeeds
      Then nothing was lost in any try, and the command succeeded when there was room

    Scenario Outline: The disk is full when the undo of an apply is at each of its points, and it <goes>
      Given a plan whose apply is undone, and the project on a small disk
      When the disk fills when the undo of the apply is at each of its points, and it <goes>
      Then nothing was lost in any try, and the command succeeded when there was room

      Examples:
        | goes      |
        | continues |
        | fails     |

  Rule: the disk of the home directory

    Scenario Outline: <command>
      Given <situation>, and the home directory on a small disk
      When the command is tried with ever more free pages, until it succeeds
      Then nothing was lost in any try, and the command succeeded when there was room

      Examples:
        | command      | situation                                      |
        | An apply     | a plan whose result will be applied            |
        | A checkpoint | a plan that a checkpoint is made of            |
        | A rollback   | a plan that is rolled back                     |
        | An undo      | a plan whose rollback is undone                |
        | An undo of an apply | a plan whose apply is undone                   |
        | A collection | a plan whose deleted checkpoints are reclaimed |

    Scenario: The disk is full when the apply is at each of its points
      Given a plan whose result will be applied, and the home directory on a small disk
      When the disk fills when the apply is at each of its points, and the apply continues
      Then nothing was lost in any try, and the command succeeded when there was room

    Scenario Outline: Another process fills the disk while <command> is at each of its points
      What is taken in the middle of a restore can be missing both to end and to undo it.
      The command says so, and the next one ends it.
      Given <situation>, and the home directory on a small disk
      When the disk fills when the restore is at each of its points
      Then nothing was lost in any try, and the command succeeded when there was room

      Examples:
        | command    | situation                       |
        | a rollback | a plan that is rolled back      |
        | an undo    | a plan whose rollback is undone |

  Rule: a disk can run out of inodes, too

    Scenario Outline: <command> in <place>
      Given <situation>, and <place> on a small disk
      When the command is tried with ever more free inodes, until it succeeds
      Then nothing was lost in any try, and the command succeeded when there was room

      Examples:
        | command  | situation                           | place              |
        | An apply | a plan whose result will be applied | the project        |
        | An apply | a plan whose result will be applied | the home directory |
        | An undo  | a plan whose rollback is undone     | the home directory |

  Rule: ext4 keeps the same promises

    Scenario Outline: <command> in <place>, with ever more <unit>
      Given <situation>, and <place> on a small disk with ext4
      When the command is tried with ever more free <unit>, until it succeeds
      Then nothing was lost in any try, and the command succeeded when there was room

      Examples:
        | command  | situation                           | place              | unit   |
        | An apply | a plan whose result will be applied | the project        | pages  |
        | An undo  | a plan whose rollback is undone     | the home directory | pages  |
        | An undo  | a plan whose rollback is undone     | the home directory | inodes |
