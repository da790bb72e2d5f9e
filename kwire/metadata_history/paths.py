"""The choice of changes by a path of the shell's tree, short or whole, with globs."""

from __future__ import annotations

import re

from kwire.errors import InvalidValue
from kwire.shell.paths import components, glob_pattern
from kwire.shell.short_paths import FOLDERS, PARTITIONS, whole_path

_TOPICS = ["image", "topics", "byName"]
_ROOTS = ("image", "raft")


class PathFilter:
    """Chooses paths at or below one. A topic's path stands for its configuration, too.

    Raises InvalidValue for a glob that is none, and where no path begins like this.
    """

    def __init__(self, path: str) -> None:
        names = whole_path(components(path))
        if names and names[0] not in _ROOTS and glob_pattern(names[0]) is None:
            first = ", ".join(f"/{name}" for name in sorted((*FOLDERS, PARTITIONS)))
            raise InvalidValue(f"no path begins with /{names[0]}; these do: {first}")
        chosen = [_pattern(names)]
        if names[:3] == _TOPICS and len(names) == len(_TOPICS) + 1:
            chosen.append(_pattern(["image", "configs", f"TOPIC:{names[3]}"]))
        self._pattern = re.compile("|".join(chosen), re.DOTALL)

    def __contains__(self, path: str) -> bool:
        whole = "/".join(whole_path(components(path)))
        return self._pattern.fullmatch(whole) is not None


def _pattern(names: list[str]) -> str:
    if not names:
        return ".*"
    parts = []
    for name in names:
        glob = glob_pattern(name)
        parts.append(re.escape(name.replace("\\", "")) if glob is None else glob.pattern)
    # A star stays within a name, but names of users may have slashes.
    return "/".join(part.replace(".*", "[^/]*") for part in parts) + "(?:/.*)?"
