"""A plan whose every step can be predicted: what it does to its resources, or that it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cleveragents.testing.trees import Node, Tree

WORK, BASE = "work", "base"
"""The resources: files, and in some plans a database."""

Contents = Mapping[str, Tree]
"""What every resource holds; a database as its rows and tables."""

START = {
    "notes.txt": "a draft\n",
    "old.txt": "old\n",
    "sub/kept.txt": "kept\n",
    "words.txt": "first words",
}
"""What the files are before any plan."""


class StepFailure(Exception):
    """The step fails; what it did until then stays."""


@dataclass
class Scene:
    """What a step finds and changes."""

    trees: dict[str, Tree]
    outputs: Mapping[str, str]
    """What earlier steps have saved, by name."""
    said: str | None = None
    """What this step says, where that is known."""

    @property
    def work(self) -> Tree:
        return self.trees[WORK]

    @property
    def base(self) -> Tree:
        return self.trees[BASE]


@dataclass(frozen=True)
class Fork:
    """What makes a step a decision."""

    question: str
    chosen: str
    options: Mapping[str, Sequence[Step]]
    influenced_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step, as the plan file has it and as it is predicted."""

    name: str
    tool: str = "record-decision"
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    effect: Callable[[Scene], None] = lambda _: None
    resource: str = WORK
    fork: Fork | None = None
    save_as: str | None = None
    writes: bool = True


class Place(NamedTuple):
    """A step of the course a plan takes."""

    step: Step
    place: str
    within: str | None
    """The place of the decision whose option it belongs to."""


def course(steps: Sequence[Step], choices: Mapping[str, str]) -> list[Place]:
    """Returns the steps that run if the decisions choose so."""
    return list(_follow(steps, choices, "", None))


def _follow(
    steps: Sequence[Step], choices: Mapping[str, str], above: str, within: str | None
) -> Iterator[Place]:
    for index, step in enumerate(steps):
        here = f"{above}{index}"
        yield Place(step, here, within)
        if step.fork:
            inside = step.fork.options[choices[here]]
            yield from _follow(inside, choices, f"{here}/{choices[here]}/", here)


def first_choices(steps: Sequence[Step], above: str = "") -> dict[str, str]:
    """Returns what the plan file chooses, by place, in all options."""
    found: dict[str, str] = {}
    for index, step in enumerate(steps):
        if step.fork:
            found[f"{above}{index}"] = step.fork.chosen
            for name, inside in step.fork.options.items():
                found |= first_choices(inside, f"{above}{index}/{name}/")
    return found


def definition(step: Step) -> dict[str, Any]:
    """Returns the step as a plan file has it."""
    if step.fork is None:
        saved = {"save_as": step.save_as} if step.save_as else {}
        where = {"tool": step.tool, "with": step.given, "resource": step.resource}
        return {"name": step.name, **where, **saved}
    options = {
        name: {"steps": [definition(each) for each in inside]}
        for name, inside in step.fork.options.items()
    }
    asked = {"question": step.fork.question, "chosen": step.fork.chosen, "options": options}
    influences = {"influenced_by": list(step.fork.influenced_by)} if step.fork.influenced_by else {}
    return {"name": step.name, "decision": {**asked, **influences}}


def scripted_steps(*, with_base: bool, influenced: bool) -> list[Step]:
    """Returns steps that write, edit, move and delete, three decisions among them."""
    lines = [_write("lines.txt", "1\n2\n", 0o600), _shell_work("tree", "sub.log")]
    form = Fork("Which format?", "text", {"text": [_write("text.txt", "t", 0o644)], "lines": lines})
    in_file = [_write("store.py", "store = 1\n", 0o755), Step("format", fork=form)]
    in_base = [_create_table(), _insert("by where")] if with_base else [_write("b", "", 0o640)]
    where = Fork("Where?", "file", {"file": in_file, "base": in_base, "nowhere": []})
    red, blue = [_delete("old.txt")], [_move("old.txt", "new.txt"), _write("blue", "b", 0o600)]
    colour = Fork("Which?", "red", {"red": red, "blue": blue}, ("where",) if influenced else ())
    return [
        _write("begin.txt", "begun\n", 0o640),
        *([_insert("at first")] if with_base else []),
        Step("where", fork=where),
        _read("words.txt", "words"),
        _edit("notes.txt", "draft", "paper"),
        _shell_work("made", "part.log"),
        Step("colour", fork=colour),
        *([_insert("at last")] if with_base else []),
        _write("end.txt", "the end: {{ outputs.words }}", 0o644),
    ]


def _write(path: str, content: str, mode: int) -> Step:
    def effect(scene: Scene) -> None:
        _require(scene.work.get(path, FILE).kind == "file")
        text = content
        for name, output in scene.outputs.items():
            text = text.replace(f"{{{{ outputs.{name} }}}}", output)
        scene.work[path] = Node("file", mode, text.encode())

    given = {"path": path, "content": content, "mode": f"{mode:04o}"}
    return Step(f"write {path}", "write-file", given, effect)


def _read(path: str, save_as: str) -> Step:
    def effect(scene: Scene) -> None:
        scene.said = scene.work[path].content.decode()

    given = {"path": path}
    return Step(f"read {path}", "read-file", given, effect, save_as=save_as, writes=False)


def _edit(path: str, old: str, new: str) -> Step:
    def effect(scene: Scene) -> None:
        node = scene.work.get(path, NOTHING)
        _require(node.kind == "file" and node.content.count(old.encode()) == 1)
        changed = node.content.replace(old.encode(), new.encode())
        scene.work[path] = node._replace(content=changed)

    return Step(f"edit {path}", "edit-file", {"path": path, "old": old, "new": new}, effect)


def _delete(path: str) -> Step:
    def effect(scene: Scene) -> None:
        _require(scene.work.get(path, NOTHING).kind in ("file", "link"))
        del scene.work[path]

    return Step(f"delete {path}", "delete-file", {"path": path}, effect)


def _move(source: str, target: str) -> Step:
    def effect(scene: Scene) -> None:
        tree = scene.work
        _require(source in tree and target not in tree)
        for path in [path for path in tree if f"{path}/".startswith(f"{source}/")]:
            tree[target + path.removeprefix(source)] = tree.pop(path)

    given = {"from": source, "to": target}
    return Step(f"move {source}", "move-file", given, effect)


def _shell_work(directory: str, log: str) -> Step:
    """Directories, a link and modes, a file that grows, and then a failure if `stop` is there."""
    command = (
        f"mkdir -p {directory}/empty && chmod 700 {directory}/empty && chmod 751 {directory} && "
        f"ln -sfn ../begin.txt {directory}/link && echo more >> {log} && chmod 640 {log} && "
        "test ! -e stop"
    )

    def effect(scene: Scene) -> None:
        tree = scene.work
        _require(tree.get(directory, DIRECTORY).kind == "directory")
        tree[directory] = Node("directory", 0o751, b"")
        tree[f"{directory}/empty"] = Node("directory", 0o700, b"")
        tree[f"{directory}/link"] = Node("link", 0, b"../begin.txt")
        _require(tree.get(log, FILE).kind == "file")
        tree[log] = Node("file", 0o640, tree.get(log, FILE).content + b"more\n")
        _require("stop" not in tree)

    return Step(f"work in {directory}", "shell", {"command": command}, effect)


def _insert(value: str) -> Step:
    def effect(scene: Scene) -> None:
        rows = scene.base
        number = 1 + max(int(path.partition("/")[2]) for path in rows if path.startswith("goods/"))
        rows[f"goods/{number}"] = Node("row", 0, value.encode())

    statement = f"INSERT INTO goods VALUES ('{value}')"
    return Step(f"insert {value}", "sql", {"statement": statement}, effect, BASE)


def _create_table() -> Step:
    statement = "CREATE TABLE colours (name)"

    def effect(scene: Scene) -> None:
        _require("colours" not in scene.base)
        scene.base["colours"] = Node("table", 0, statement.encode())

    return Step("create colours", "sql", {"statement": statement}, effect, BASE)


def _require(fulfilled: bool) -> None:
    if not fulfilled:
        raise StepFailure


FILE, DIRECTORY = Node("file", 0o644, b""), Node("directory", 0o755, b"")
NOTHING = Node("nothing", 0, b"")
