"""The rules for paths of znodes (org.apache.zookeeper.common.PathUtils)."""

from __future__ import annotations

import re

from kwire.zookeeper.errors import InvalidPath

# Java looks at UTF-16 units: characters above U+FFFF are surrogates there, hence refused.
_REFUSED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff\U00010000-\U0010ffff]")


def check_path(path: str, *, sequential: bool = False) -> None:
    """Raise InvalidPath for a path that ZooKeeper refuses before it looks for the znode.

    sequential: digits are appended, so the path may end in a slash.
    """
    reason = _fault(path + "1" if sequential else path)
    if reason:
        raise InvalidPath(f"{path!r} is no path of a znode: {reason}")


def _fault(path: str) -> str | None:
    if not path.startswith("/"):
        return "it must begin with a slash"
    if path == "/":
        return None
    names = path[1:].split("/")
    if "" in names:
        return "a name in it is empty"
    if "." in names or ".." in names:
        return "relative names are not allowed"
    if found := _REFUSED.search(path):
        return f"the character U+{ord(found[0]):04X} is not allowed"
    return None


def parent_of(path: str) -> str:
    """Return the path of the znode that has this one as a child; the root's is the root."""
    return path.rpartition("/")[0] or "/"


def join(parent: str, name: str) -> str:
    """Return the path of a child."""
    return f"/{name}" if parent == "/" else f"{parent}/{name}"
