"""Paths in the tree, and globs in them (org.apache.kafka.shell.glob)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kwire.errors import InvalidValue
from kwire.shell.nodes import FolderNode, TreeNode
from kwire.shell.short_paths import whole_path

_TOKEN = re.compile(r"\\.|.", re.DOTALL)


def components(path: str, working_directory: str = "/") -> list[str]:
    """Return the names along a path from the root, `.` and `..` resolved."""
    names: list[str] = []
    full = path if path.startswith("/") else f"{working_directory}/{path}"
    for name in full.split("/"):
        if name == "..":
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    return names


def path_of(names: list[str]) -> str:
    """Return the absolute path of names."""
    return "/" + "/".join(names)


def matches(
    root: TreeNode, path: str, working_directory: str = "/"
) -> Iterator[tuple[str, TreeNode]]:
    """Yield the absolute path and the node of everything that a path with globs stands for."""
    yield from _matches(root, whole_path(components(path, working_directory)), [])


def glob_pattern(glob: str) -> re.Pattern[str] | None:
    r"""Return the pattern of a glob: `*`, `?`, `{a,b}`, and `\` before a literal character.

    None if the glob is a plain name. Raises InvalidValue for braces within braces, or without end.
    """
    parts: list[str] = []
    in_braces = is_glob = False
    for token in _TOKEN.findall(glob):
        special = {"*": ".*", "?": ".", "{": "(?:"} | ({",": "|", "}": ")"} if in_braces else {})
        if token not in special:
            parts.append(re.escape(token[-1]))
            continue
        if token == "{" and in_braces:
            raise InvalidValue(f"{glob!r} has braces within braces, which a glob cannot have")
        is_glob = True
        in_braces = token == "{" or (in_braces and token != "}")
        parts.append(special[token])
    if in_braces:
        raise InvalidValue(f"{glob!r} has a brace that does not end")
    return re.compile("".join(parts), re.DOTALL) if is_glob else None


def _matches(node: TreeNode, names: list[str], before: list[str]) -> Iterator[tuple[str, TreeNode]]:
    if not names:
        yield path_of(before), node
        return
    if not isinstance(node, FolderNode):
        return
    # A name may have slashes, as that of a Kerberos principal: then it takes several components.
    for length in range(1, len(names) + 1):
        name = "/".join(names[:length])
        if (child := node.child(name)) is not None:
            yield from _matches(child, names[length:], [*before, name])
            return
    pattern = glob_pattern(names[0])
    for name in node.sorted_names() if pattern else ():
        child = node.child(name) if pattern and pattern.fullmatch(name) else None
        if child is not None:
            yield from _matches(child, names[1:], [*before, name])
