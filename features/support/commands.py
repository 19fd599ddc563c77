"""Shell commands that are too long for a table, by the names that the features use.

A step that runs a shell command takes either the command or one of these names. A name that
is not here is run as a command, which fails.
"""

from __future__ import annotations

COMMANDS = {
    "commit a change of README.md without filters and hooks": (
        "printf 'Top\\n# Shop\\n' > README.md; "
        "git -c core.hooksPath=/dev/null -c core.fsmonitor=false "
        "-c filter.trap.clean=cat -c filter.trap.smudge=cat -c filter.trap.process= "
        "commit -qam mine"
        "; rm -f ../sprung"
    ),
    "add row 9 to the goods in ../app.db": (
        "python3 -c \"import sqlite3; c = sqlite3.connect('../app.db'); "
        "c.execute('insert into goods values (9)'); c.commit()\""
    ),
    "print the last and the count of the goods in ../app.db": (
        'python3 -c "import sqlite3; '
        "rows = sqlite3.connect('../app.db')"
        ".execute('select max(number), count(*) from goods'); "
        'print(*rows.fetchone())"'
    ),
    "commit, branch, commit and tag, and leave a new file": (
        "git config user.name A; git config user.email a@x; echo 1 > one; git add one; "
        "git commit -qm one; git checkout -qb side; echo 2 > two; git add two; "
        "git commit -qm two; git tag t; echo 3 > three"
    ),
    "stage changes and leave others unstaged": (
        "sed -i s/19/end/ list.txt; git add list.txt; sed -i s/18/near/ list.txt; "
        "echo x > loose.txt; git rm -q run.sh; echo y > added.txt; git add added.txt"
    ),
    "make files, links and directories of many modes": (
        "echo s > secret; chmod 600 secret; echo f > frozen; chmod 444 frozen; "
        "echo r > root; chmod 4755 root; ln -s secret link; ln -s nowhere lost; "
        "mkdir -p e/mpty; chmod 750 e"
    ),
    "change and remove all of them": (
        "chmod 644 secret; rm -f frozen; echo R > root; ln -sf README.md link; rm lost; "
        "mkdir lost; rmdir e/mpty; chmod 755 e; rm -r src; echo s > src; "
        "mkdir -p new/empty"
    ),
    "commit, switch to a new branch and stage a removal": (
        "echo x > x; git add x; git -c user.name=A -c user.email=a@b commit -qm x; "
        "git checkout -qb other; git rm -q run.sh"
    ),
    "rewrite README.md with its old size and time": (
        "touch -d @1000000000 README.md; git add -A; git commit -qm 2 --allow-empty; "
        "printf 'REWRITE\\n' > README.md; touch -d @1000000000 README.md"
    ),
    "make files and directories with odd names": (
        "echo 1 > \"$(printf 'a\\nb')\"; echo 2 > \"$(printf 'caf\\351')\"; echo 3 > ' ='; "
        "echo 4 > ':(top)x'; echo 5 > '\"'; echo 6 > -n; "
        "mkdir -- ':(top)d' '[a]*' '!d' -d \"$(printf 'd\\351\\n')\""
    ),
    "ignore files that git tracks, and change them": (
        "echo 1 > a.log; mkdir out; echo 1 > out/a; git add -f .; "
        "echo '*.log' > .gitignore; echo out >> .gitignore; echo 2 > a.log; "
        "echo 2 > out/a; echo 3 > out/b; echo 3 > b.log"
    ),
    "start a daemon in another session": (
        "setsid sh -c 'echo $$ > pid.txt; exec sleep 60' & until test -s pid.txt; do :; done"
    ),
    "start a daemon that forks twice": (
        "(setsid sh -c '(sh -c \"echo \\$\\$ > pid.txt; exec sleep 60\" &)' &); "
        "until test -s pid.txt; do sleep 0.01; done"
    ),
    "start a daemon without its environment": (
        'setsid sh -c \'env -i sh -c "echo \\$\\$ > pid.txt; exec sleep 60"; '
        "true' & until test -s pid.txt; do :; done"
    ),
    "start a daemon that ignores SIGTERM": (
        'setsid sh -c \'trap "" TERM; sleep 60 & echo $$ > pid.txt; wait; '
        "wait' & until test -s pid.txt; do :; done"
    ),
    "fork without end, in two sessions": (
        "f() { sleep 0.01; f & }; setsid sh -c 'f() { sleep 0.05; f & }; f' & f; "
        "sleep 0.5; echo $$ > pid.txt; sleep 60"
    ),
    "leave uncommitted work of all kinds": (
        "echo 2 >> README.md; echo 3 > staged; git add staged; echo 4 > staged; "
        "echo 5 > untracked; echo '*.log' > .gitignore; echo 6 > a.log; mkdir empty; "
        "chmod 600 run.sh"
    ),
    "move branches by name and by ref": (
        "git branch x; git branch -f x HEAD; git update-ref refs/heads/main HEAD; "
        "git update-ref refs/remotes/origin/main HEAD"
    ),
    "new repository p with an object that is a dangling link": (
        "new p; mkdir -p p/.git/objects/00; "
        "ln -s /nowhere p/.git/objects/00/00000000000000000000000000000000000000"
    ),
    "new repository p with a submodule": (
        "new p; new s; "
        "git -C p -c protocol.file.allow=always submodule --quiet add ../s sub; "
        "git -C p commit -qm s"
    ),
    "new repository p with files in Git LFS": (
        "new p; echo '*.bin filter=lfs diff=lfs' > p/.gitattributes; git -C p add -A; "
        "git -C p commit -qm a"
    ),
    "new repository p with a directory in Git LFS": (
        "new p; mkdir p/d; echo '* filter=lfs' > p/d/.gitattributes; git -C p add -A; "
        "git -C p commit -qm a"
    ),
    "new partial clone p": (
        "new s; git -C s config uploadpack.allowFilter true; "
        "git clone -q --filter=blob:none file://$PWD/s p"
    ),
    "new repository p whose packs are links": (
        "new p; git -C p gc -q; mv p/.git/objects/pack pack; mkdir p/.git/objects/pack; "
        "cd p/.git/objects/pack; ln -s ../../../../pack/* ."
    ),
    "new link p to a submodule": (
        "new s; new q; "
        "git -C q -c protocol.file.allow=always submodule --quiet add ../s p; "
        "git -C q commit -qm s; ln -s q/p p"
    ),
    "leave a merge in progress": (
        "git checkout -q -b x; echo x > c; git add c; git commit -qm x; git checkout -q -"
        "; echo y > c; git add c; git commit -qm y; ! git merge -q x"
    ),
    "commit, and lock HEAD and its branch": (
        "git commit -q --allow-empty -m 2; d=$(git rev-parse --git-dir); "
        'touch $d/HEAD.lock "$(git rev-parse --git-common-dir)/$(git symbolic-ref HEAD).lock"'
    ),
    "leave a merge without a conflict in progress": (
        "git checkout -q -b x; git commit -q --allow-empty -m x; git checkout -q -; "
        "git commit -q --allow-empty -m y; git merge -q --no-commit x"
    ),
    "add a repository in a repository that runs programs": (
        "touch empty; git init -q in; git -C in commit -q --allow-empty -m 1; "
        "git add in empty 2> /dev/null; "
        'git -C in config core.fsmonitor "touch $OUTSIDE/ran; false"; '
        'git -C in config core.pager "touch $OUTSIDE/ran"'
    ),
    "make files with names that look like .git": (
        "mkdir .GIT d; touch .GIT/f 'git~1' '.git.' '.git ' 'a\\.git' %escaped-x d/.Git; "
        "printf x > \"$(printf '.g\\342\\200\\214it')\""
    ),
    "write 300 files while a directory is made beside them": (
        "mkdir d; "
        'python3 -c \'for n in range(300): open(f"d/{n}", "w").write(str(n))\' & mkdir -p d/e'
        "; wait"
    ),
    "make 600 ignored directories and 300 others": (
        "echo 'ign*/' > .gitignore; for n in $(seq 600); do mkdir ign$n; echo 1 > ign$n/f"
        "; done; for n in $(seq 300); do mkdir -p many/d$n; echo 1 > many/d$n/f; done"
    ),
    "make 1,600 directories": (
        "for n in $(seq 40); do mkdir -p a$n b$n; for m in $(seq 20); "
        "do mkdir a$n/$m b$n/$m; done; done"
    ),
    "make d, and another d outside": (
        'mkdir -p "$OUTSIDE/d/e" d/e; echo 1 > "$OUTSIDE/d/e/f"; echo 2 > d/e/f; sleep 0.1'
    ),
    "new repository p without the bytes of f": (
        "new p; cd p; o=$(git rev-parse HEAD:f); rm -f .git/objects/$(echo $o | sed 's,..,&/,')"
    ),
    "drop the merge and prune all that is unreachable": (
        "git reset -q --hard; git branch -q -D x; git reflog expire --expire=now --all; "
        "git gc -q --prune=now"
    ),
    "add an empty file and a repository": (
        "touch empty; git init -q in; git -C in commit -q --allow-empty -m 1; "
        "git add in empty 2> /dev/null"
    ),
}


def spelled_out(command: str) -> str:
    """Returns the shell command that a feature means."""
    return COMMANDS.get(command, command)
