Feature: Which projects can be sandboxed
  A project is sandboxed whole or not at all. What would be missing is the reason of the refusal.

  Rule: What cannot be carried over whole is refused, and says why

    Scenario Outline: <kind>
      Given the user has run `<command>`
      When a plan is to work on the project `<path>`
      Then the project is refused, because <reason>
      And nothing has been made for it

      Examples: There is no repository to work on
        | kind                             | command                | path   | reason                                |
        | A directory without git          | mkdir p                | p      | it is not in a git repository         |
        | No directory at all              | true                   | p      | there is no such directory            |
        | A file                           | touch p                | p      | it is not a directory                 |
        | A link to itself                 | ln -s p p              | p      | there is no such directory            |
        | A bare repository                | git init -q --bare p   | p      | it is a bare repository or inside one |
        | A directory in a bare repository | git init -q --bare p   | p/refs | it is a bare repository or inside one |
        | The inside of a git directory    | new p                  | p/.git | it is a bare repository or inside one |
        | The user's home                  | git init -q .          | .      | it is your home directory or the root of the file system |
        | A directory in the user's home   | git init -q .; mkdir p | p      | it is your home directory or the root of the file system |

      Examples: The repository is broken
        | kind                            | command                                                 | path | reason                                              |
        | An empty git directory          | mkdir -p p/.git                                         | p    | its `.git` is not a git repository                  |
        | HEAD is missing                 | new p; rm p/.git/HEAD                                   | p    | its `.git` is not a git repository                  |
        | The configuration is broken     | new p; echo '[[' > p/.git/config                        | p    | its `.git` is not a git repository                  |
        | A git directory from the future | new p; git -C p config core.repositoryformatversion 99  | p    | its `.git` is not a git repository                  |
        | The link is not one             | mkdir p; echo hello > p/.git                            | p    | its `.git` is neither a directory nor a link to one |
        | The link is a FIFO              | mkdir p; mkfifo p/.git                                  | p    | its `.git` is neither a directory nor a link to one |
        | The link dangles                | mkdir p; ln -s nowhere p/.git                           | p    | its `.git` is neither a directory nor a link to one |
        | The link points nowhere         | mkdir p; echo 'gitdir: /nowhere' > p/.git               | p    | its `.git` points to /nowhere, which is not there   |
        | Objects are missing             | new p; rm -r p/.git/objects/??                          | p    | is incomplete                                       |
        | An object that is never there   | new repository p with an object that is a dangling link | p    | is incomplete                                       |
        | One file's bytes are missing    | new repository p without the bytes of f                 | p    | is incomplete                                       |

      Examples: Something of it would be missing in the sandbox
        | kind                         | command             | path | reason                    |
        | A submodule                  | new repository p with a submodule | p    | it has a submodule at sub |
        | Git LFS                      | new repository p with files in Git LFS | p    | it keeps files in Git LFS |
        | Git LFS below                | new repository p with a directory in Git LFS | p    | it keeps files in Git LFS |
        | A partial clone              | new partial clone p | p    | it is a partial clone     |
        | A sparse checkout            | new p; git -C p sparse-checkout set d | p    | it is a sparse checkout   |
        | A sparse checkout, by number | new p; git -C p config core.sparseCheckout 1 | p    | it is a sparse checkout   |
        | A sparse checkout, by name alone | new p; printf '[core]\nsparseCheckout' >> p/.git/config | p    | it is a sparse checkout   |
        | Objects named by SHA-256     | git init -q --object-format=sha256 p | p    | its objects are not named by SHA-1 |

    Scenario Outline: git itself is <state>
      Given the user has run `new p`
      And the user's git is <state>
      When a plan is to work on the project `p`
      Then it is refused for the installation, because <reason>

      Examples:
        | state       | reason                                            |
        | missing     | is it installed, and on the PATH                  |
        | too old     | git version 2.30.2 is too old                     |
        | not a git   | this git is too old                               |

    Scenario Outline: The user may not read <what>
      Given the user has run `<command>`
      And an ordinary user works with it
      When a plan is to work on the project `<path>`
      Then the project is refused, because <reason>

      Examples:
        | what            | command                               | path | reason                   |
        | the directory   | new p; mkdir p/d; chmod 000 p         | p/d  | permission denied |
        | the link to git | mkdir p; echo 'gitdir: x' > p/.git; chmod 000 p/.git | p    | its `.git` cannot be read: Permission denied |
        | the objects     | new p; chmod -R 000 p/.git/objects/?? | p    | is incomplete            |

  Rule: Everything else is carried over

    Scenario Outline: <kind>
      Given the user has run `<command>`
      When a plan is to work on the project `<path>`
      Then its sandbox holds what the commit holds
      And the agent can work in it, and go back
      And nothing in the user's directory has changed

      Examples:
        | kind                              | command                                              | path      |
        | A plain repository                | new p                                                | p         |
        | A packed repository               | new p; git -C p gc -q                                | p         |
        | A directory below the top         | new p; mkdir p/d; touch p/d/f; git -C p add -A; git -C p commit -qm d | p/d       |
        | A link to a project               | new p; ln -s p q                                     | q         |
        | A shallow clone                   | new s; git -C s commit -q --allow-empty -m 2; git clone -q --depth=1 file://$PWD/s p | p         |
        | A linked worktree                 | new s; git -C s worktree add -q ../p                 | p         |
        | A clone that borrows objects      | new s; git clone -q -s s p                           | p         |
        | One that borrows what is borrowed | new s; git clone -q -s s t; git clone -q -s t p      | p         |
        | Objects behind a link             | new repository p whose packs are links               | p         |
        | Alternates that lead nowhere      | new p; printf '# old\n/nowhere\n.\n' > p/.git/objects/info/alternates | p         |
        | A repository without a commit     | git init -q p                                        | p         |
        | A commit without a file           | git init -q p; git -C p commit -q --allow-empty -m 1 | p         |
        | A detached HEAD                   | new p; git -C p checkout -q --detach                 | p         |
        | A separate git directory          | new s; git init -q --separate-git-dir g s; mv s p    | p         |
        | A git directory behind a link     | new p; mv p/.git g; ln -s ../g p/.git                | p         |
        | A repository of somebody else     | new p; chown -R 65534 p \|\| true                    | p         |
        | A space in its path               | new 'a project'                                      | a project |
        | A branch that leads nowhere       | new p; echo 1234567890123456789012345678901234567890 > p/.git/refs/heads/x | p         |
        | Names of branches that clash      | new p; git -C p branch a/b; git -C p tag a           | p         |
        | A sparse checkout no more         | new p; git -C p config core.sparseCheckout 0; git -C p config remote.o.promisor no | p         |
        | LFS only in a comment             | new p; echo '# x filter=lfs' > p/.gitattributes; git -C p add -A; git -C p commit -qm a | p         |
        | A submodule's own directory       | new link p to a submodule                            | p         |

    Scenario Outline: A path with <oddity>
      Given the user has run `new "$(printf '<name>')"`
      When a plan is to work on the only project there is
      Then its sandbox holds what the commit holds
      And the agent can work in it, and go back
      And nothing in the user's directory has changed

      Examples:
        | oddity                     | name          |
        | a newline                  | new\nline     |
        | bytes that are not UTF-8   | \377\376      |
        | quotation marks            | it"s mine     |
        | nothing readable           | \001\002      |

    Scenario Outline: The next plan sees what has become of the project: <change>
      Given the user has run `new p`
      And a plan has worked on the project `p`
      And the user has run `<command>`
      When a plan is to work on the project `p`
      Then its sandbox holds what the commit holds
      And the agent can work in it, and go back
      And the first plan's checkpoint is whole

      Examples:
        | change                                | command                                                                                                    |
        | a commit                              | echo 2 > p/f; git -C p commit -qam 2                                                                       |
        | it was repacked                       | echo 2 > p/f; git -C p commit -qam 2; git -C p gc -q --prune=now                                           |
        | history was rewritten                 | git -C p commit -q --amend -m other; git -C p reflog expire --expire=now --all; git -C p gc -q --prune=now |
        | it was made again                     | rm -rf p; new p; git -C p commit -q --allow-empty -m 2                                                     |
        | branches changed their form           | git -C p branch x; git -C p branch -d -q x; git -C p branch x/y; git -C p tag t                            |
        | a tag of an agent's stands in the way | git -C "$(ls -d ~/../home/sandboxes/FIRST/project)" tag a; git -C p tag a/b                                |
        | it was cut off                        | git -C p commit -q --allow-empty -m 2; mv p s; git clone -q --depth=1 file://$PWD/s p                      |

    Scenario Outline: Objects cannot be linked into the mirror, because <why>
      Given the user has run `new p`
      And objects cannot be linked, because <why>
      When a plan is to work on the project `p`
      Then its sandbox holds what the commit holds
      And the agent can work in it, and go back

      Examples:
        | why                                        |
        | the home directory is on another disk      |
        | an agent has just made the same ones       |

    Scenario: Objects cannot be linked into the mirror, because the disk is full
      Given the user has run `new p`
      And objects cannot be linked, because there is no room
      When a plan is to work on the project `p`
      Then it fails, because The sandbox could not be created
      And nothing has been made for it
