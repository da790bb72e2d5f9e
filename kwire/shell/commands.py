"""The commands of the shell (org.apache.kafka.shell.command), and `at`, which Kafka's lacks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kwire.errors import InvalidValue
from kwire.shell.context import Context
from kwire.shell.listing import columns
from kwire.shell.nodes import FolderNode, TreeNode
from kwire.shell.values import json_of
from kwire.text.untrusted import whole_number

LATEST = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCommand:
    """A command: its help, how many arguments it takes, and the function that runs it.

    run: takes the context, the arguments, and True for JSON; returns False if a path was not there.
    arguments: at least and at most so many, None for any number. in_scripts: it makes sense outside
    a session, too.
    """

    usage: str
    summary: str
    run: Callable[[Context, list[str], bool], bool]
    arguments: tuple[int, int | None] = (0, 0)
    has_json: bool = False
    in_scripts: bool = False
    completes: Literal["path", "command"] | None = None


def ls(context: Context, paths: list[str], as_json: bool) -> bool:
    """List values by their path, then the names in each folder."""
    top = context.root()
    found, succeeded = _found(context, "ls", paths or ["."], top)
    files = [path for path, node in found if not isinstance(node, FolderNode)]
    folders = [(path, node) for path, node in found if isinstance(node, FolderNode)]
    for line in columns(files, context.width()):
        context.write(line)
    for number, (path, node) in enumerate(folders):
        if len(found) > 1:
            if files or number:
                context.write("")
            context.write(f"{path}:")
        for line in columns(node.sorted_names(), context.width()):
            context.write(line)
    return succeeded


def cat(context: Context, paths: list[str], as_json: bool) -> bool:
    """Print values."""
    rows: list[dict[str, Any]] = []
    for full, node in _each(context, "cat", paths, rows):
        if isinstance(node, FolderNode):
            message = f"{full} is a folder: `tree` prints all that is in it"
            rows.append({"path": full, "error": "IS_A_FOLDER", "message": message})
            context.complain(f"cat: {message}")
        elif as_json:
            rows.append({"path": full, "value": json_of(node.value)})
        else:
            context.write(node.text)
    return _end(context, rows, as_json)


def cd(context: Context, paths: list[str], as_json: bool) -> bool:
    """Change the working directory."""
    found, succeeded = _found(context, "cd", paths or ["/"], context.root())
    if len(found) > 1:
        raise InvalidValue(f"{paths[0]} stands for {len(found)} nodes: cd takes one folder")
    for path, node in found:
        if not isinstance(node, FolderNode):
            context.complain(f"cd: {path}: not a directory.")
            return False
        context.working_directory = path
    return succeeded


def pwd(context: Context, arguments: list[str], as_json: bool) -> bool:
    """Print the working directory."""
    context.write(context.working_directory)
    return True


def find(context: Context, paths: list[str], as_json: bool) -> bool:
    """Print the path of every node below the given ones."""
    rows: list[dict[str, Any]] = []
    for full, node in _each(context, "find", paths or ["."], rows):
        for below, child in _below(full, node):
            if as_json:
                kind = "folder" if isinstance(child, FolderNode) else "value"
                rows.append({"path": below, "kind": kind})
            else:
                context.write(below)
    return _end(context, rows, as_json)


def tree(context: Context, paths: list[str], as_json: bool) -> bool:
    """Print values with the names above them, two spaces further in each time."""
    found, succeeded = _found(context, "tree", paths or ["."], context.root())
    for _, node in found:
        for line in _drawn(node, ""):
            context.write(line)
    return succeeded


def at(context: Context, words: list[str], as_json: bool) -> bool:
    """Show another offset, or the latest again; print the place that is shown."""
    if words:
        offset = None if words[0] == LATEST else whole_number(words[0], bits=63)
        if offset is None and words[0] != LATEST:
            raise InvalidValue(f"{words[0]!r} is no offset: write a number, or `at {LATEST}`")
        # The latest of files is what they have now, and not what they had at the start.
        context.source.reload()
        context.chosen = None if offset is None else context.source.at(offset)
    context.write(context.position().text)
    return True


def man(context: Context, names: list[str], as_json: bool) -> bool:
    """Print the help of a command, or a line on each."""
    for name in names:
        if name not in COMMANDS:
            raise InvalidValue(f"{name!r} is no command: `help` lists them")
        command = COMMANDS[name]
        context.write(command.usage)
        context.write(f"  {command.summary}")
    if not names:
        width = max(len(command.usage) for command in COMMANDS.values())
        for command in dict.fromkeys(COMMANDS.values()):
            context.write(f"{command.usage:{width}}  {command.summary}")
    return True


def history(context: Context, words: list[str], as_json: bool) -> bool:
    """Print the lines of this session, numbered."""
    count = whole_number(words[0], bits=31) if words else len(context.history)
    if count is None:
        raise InvalidValue(f"{words[0]!r} is no number of lines")
    numbered = list(enumerate(context.history))
    for number, line in numbered[len(numbered) - min(count, len(numbered)) :]:
        context.write(f"{number:5}  {line}")
    return True


def exit(context: Context, arguments: list[str], as_json: bool) -> bool:
    """End the session."""
    context.has_ended = True
    return True


MANY = (0, None)
_MAN = ShellCommand(
    usage="help [COMMAND]",
    summary="Print the help of a command. man does the same.",
    run=man,
    arguments=(0, 1),
    in_scripts=True,
    completes="command",
)
COMMANDS: Mapping[str, ShellCommand] = {
    "at": ShellCommand(
        usage="at [OFFSET|latest]",
        summary="Show the cluster as it was at an offset. Print the offset, epoch and time shown.",
        run=at,
        arguments=(0, 1),
        in_scripts=True,
    ),
    "cat": ShellCommand(
        usage="cat [--json] PATH...",
        summary="Print the values of nodes.",
        run=cat,
        arguments=(1, None),
        has_json=True,
        in_scripts=True,
        completes="path",
    ),
    "cd": ShellCommand(
        usage="cd [PATH]",
        summary="Change the working directory, to / without a path.",
        run=cd,
        arguments=(0, 1),
        completes="path",
    ),
    "exit": ShellCommand(usage="exit", summary="End the shell, as Ctrl-D does.", run=exit),
    "find": ShellCommand(
        usage="find [--json] [PATH...]",
        summary="Print the paths of all nodes below.",
        run=find,
        arguments=MANY,
        has_json=True,
        in_scripts=True,
        completes="path",
    ),
    "help": _MAN,
    "history": ShellCommand(
        usage="history [COUNT]",
        summary="Print the lines that were typed.",
        run=history,
        arguments=(0, 1),
    ),
    "ls": ShellCommand(
        usage="ls [PATH...]",
        summary="List the nodes in folders.",
        run=ls,
        arguments=MANY,
        in_scripts=True,
        completes="path",
    ),
    "man": _MAN,
    "pwd": ShellCommand(usage="pwd", summary="Print the working directory.", run=pwd),
    "tree": ShellCommand(
        usage="tree [PATH...]",
        summary="Print all values below, under their names.",
        run=tree,
        arguments=MANY,
        in_scripts=True,
        completes="path",
    ),
}


def _found(
    context: Context, command: str, paths: list[str], top: FolderNode
) -> tuple[list[tuple[str, TreeNode]], bool]:
    """Return what the paths stand for, and False if one stands for nothing."""
    groups = [list(context.find(command, path, top)) for path in paths]
    return [item for group in groups for item in group], all(groups)


def _below(path: str, node: TreeNode) -> Iterator[tuple[str, TreeNode]]:
    yield path, node
    if isinstance(node, FolderNode):
        for name in node.sorted_names():
            child = node.child(name)
            assert child is not None, "a folder has the children that it names"
            yield from _below(f"{path.rstrip('/')}/{name}", child)


def _drawn(node: TreeNode, indentation: str) -> Iterator[str]:
    if not isinstance(node, FolderNode):
        yield f"{indentation}{node.text}"
        return
    for name in node.sorted_names():
        child = node.child(name)
        assert child is not None, "a folder has the children that it names"
        yield f"{indentation}{name}:"
        yield from _drawn(child, f"{indentation}  ")


def _each(
    context: Context, command: str, paths: list[str], rows: list[dict[str, Any]]
) -> Iterator[tuple[str, TreeNode]]:
    """Yield what the paths stand for; add a row for each that stands for nothing."""
    top = context.root()
    for path in paths:
        found, exists = _found(context, command, [path], top)
        yield from found
        if not exists:
            message = f"{path} is not there"
            rows.append({"path": path, "error": "NOT_FOUND", "message": message})


def _end(context: Context, rows: list[dict[str, Any]], as_json: bool) -> bool:
    """Write the rows of a command as JSON, if that is asked for; return False after an error."""
    if as_json:
        _write_json(context, rows)
    return not any("error" in row for row in rows)


def _write_json(context: Context, rows: list[dict[str, Any]]) -> None:
    place = context.position()
    # In ASCII, which any pipe can carry.
    for line in json.dumps(place.json() | {"nodes": rows}, indent=2).splitlines():
        context.write(line)
