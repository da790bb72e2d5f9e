"""The choice of changes by a path of the shell's tree, short or whole, with globs."""

from __future__ import annotations

import re

from kwire.shell.paths import components, glob_pattern
from kwire.shell.short_paths import whole_path

_TOPICS = ["image", "topics", "byName"]


class PathFilter:
    """Chooses paths at or below one. A topic's path stands for its configuration, too.

    Raises InvalidValue for a glob that is none.
    """

    def __init__(self, path: str) -> None:
        names = whole_path(components(path))
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
