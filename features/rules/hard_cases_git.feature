@disk
Feature: An agent may use git in its sandbox as it likes
  HEAD, branch and index are part of a checkpoint. Nothing that git does there harms a snapshot.

  Scenario Outline: <case>
    Given a sandbox in which the agent has run `<before>`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone

    Examples: Commits and branches
      | case                           | before                                  | after                                                      |
      | A commit                       | echo 1 > a                              | git add -A; git commit -qm 1                               |
      | Several commits                | echo 1 > a; git add a                   | for i in 1 2 3; do git commit -q --allow-empty -m $i; done |
      | A commit is undone             | echo 1 > a; git add a; git commit -qm 1 | git reset -q --hard HEAD~1                                 |
      | The first commit is rewritten  | true                                    | git commit -q --amend -m other                             |
      | The agent is on another branch | git checkout -q -b mine                 | git checkout -q -b yours; git commit -q --allow-empty -m x |
      | The agent's branch is deleted  | git checkout -q -b mine                 | git checkout -q -b yours; git branch -q -D mine            |
      | The agent's branch is renamed  | true                                    | git branch -m something/else                               |
      | HEAD is detached               | git commit -q --allow-empty -m 1        | git checkout -q --detach HEAD~1                            |
      | HEAD was detached              | git checkout -q --detach                | git checkout -q -b mine                                    |
      | An orphan branch               | echo 1 > a; git add a                   | git checkout -q --orphan new; git commit -qm new           |
      | A branch without a commit      | git checkout -q --orphan new            | git commit -qm new                                         |
      | Every ref is packed            | git commit -q --allow-empty -m 1        | git pack-refs --all; git commit -q --allow-empty -m 2      |
      | Detached worktrees are pruned  | true                                    | git worktree prune; git worktree prune -v                  |

    Examples: The index
      | case                           | before                                | after                        |
      | Something is staged            | echo 1 > a                            | git add a                    |
      | What was staged is not on disk | echo 1 > a; git add a; echo 2 > a     | git add a                    |
      | What was staged was removed    | echo 1 > a; git add a; rm a           | git reset -q                 |
      | A file is removed from it      | true                                  | git rm -q --cached README.md |
      | Everything is removed from it  | git rm -rq --cached .                 | git add -A                   |
      | It is deleted                  | echo 1 > a; git add a                 | rm "$(git rev-parse --git-path index)" |
      | Flags are set                  | true                                  | git update-index --assume-unchanged README.md; git update-index --skip-worktree run.sh |
      | Flags were set                 | git update-index --assume-unchanged README.md; git update-index --skip-worktree README.md run.sh | git update-index --no-skip-worktree run.sh |
      | It is split                    | git update-index --split-index        | echo 1 > a; git add a        |
      | A mode is staged               | git update-index --chmod=+x README.md | git reset -q                 |
      | It holds another repository    | git init -q in; git -C in commit -q --allow-empty -m 1; git add in 2> /dev/null | git rm -q --cached in        |

    Examples: Repositories in it
      | case                         | before                             | after                      |
      | One that became a broken one | add an empty file and a repository | rm -rf in/.git; echo nonsense > in/.git |
      | One that is broken           | mkdir in; echo 'gitdir: /nowhere' > in/.git; touch in/f empty; git add empty | rm -r in                   |
      | One without a commit, with an index | git init -q in; echo 1 > in/f; git -C in add f | rm -rf in/.git; git add in |

    Examples: Housekeeping
      | case                             | before                            | after                                |
      | Everything unreachable is pruned | echo 1 > a; git add a; echo 2 > a | git reset -q; git reflog expire --expire=now --all; git gc -q --prune=now |
      | Pruned after a conflict          | leave a merge in progress         | drop the merge and prune all that is unreachable |
      | Repacked                         | echo 1 > a; git add a; git commit -qm 1 | git repack -qad; git prune-packed    |
      | Untracked files are cleaned      | mkdir -p d/e; echo 1 > d/f        | git clean -fdxq                      |
      | Work is stashed                  | echo 1 > README.md; echo 2 > new  | git stash -q -u                      |
      | Locks of a killed git            | git commit -q --allow-empty -m 1  | commit, and lock HEAD and its branch |

  Scenario Outline: <case>: the sandbox is put back, and what was there is kept beside it
    Given a sandbox in which the agent has run `echo 1 > a`
    When the agent runs `<after>`, and then the sandbox is rolled back
    Then afterwards the agent's `git status --short; git log --format=%s; ls -A` says `?? a Start .git README.md a run.sh src`

    Examples:
      | case                       | after                                                 |
      | The link to git is removed | rm .git; rm a                                         |
      | It becomes a repository    | rm .git; git init -q; git add -A; git commit -qm mine |
      | It becomes a link          | rm .git; ln -s "$OUTSIDE" .git                        |
      | It becomes a FIFO          | rm .git; mkfifo .git                                  |
      | It points elsewhere        | echo 'gitdir: /nowhere' > .git                        |
      | It is initialised again    | git init -q                                           |
      | Everything goes, git first | rm -rf .git -- *                                      |

  Scenario Outline: What is not kept is said: <case>
    Given a sandbox in which the agent has run `<before>`
    When the agent runs `echo 1 > other`, and then the sandbox is rolled back
    Then the checkpoint says it did not capture <what>

    Examples:
      | case                        | before                   | what                                  |
      | a merge in progress         | leave a merge without a conflict in progress | .git/MERGE_HEAD (a merge in progress) |
      | an entry staged by name     | echo 1 > a; git add -N a | .git/index: a (staged by name only)   |
      | a repository of the agent's | rm .git; git init -q     | .git (not the sandbox's own; a rollback moves it aside) |

  Scenario: What a nested repository configures does not run
    Given a sandbox in which the agent has run `add a repository in a repository that runs programs`
    When the agent runs `echo 2 > in/f; echo 3 > empty`, and then the sandbox is rolled back
    Then the sandbox is exactly as it was, and so it is when that is undone
    And nothing has been made outside

  Scenario Outline: A nested repository comes back with its history
    Given a sandbox in which the agent has run `git init -q in; echo 1 > in/f; <commit>`
    When the agent runs `echo 2 > in/f; echo 3 > in/g; git -C in commit -q --allow-empty -m 2`, and then the sandbox is rolled back
    Then afterwards the agent's `cat in/*; git -C in log --format=%s` says `<answer>`

    Examples:
      | commit                                                 | answer |
      | git -C in add f; git -C in commit -qm 1                | 1 1    |
      | true                                                   | 1      |
