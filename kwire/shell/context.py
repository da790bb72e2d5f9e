"""Everything that a command may use: the source, the place in it, and where output goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kwire.shell.nodes import FolderNode, TreeNode
from kwire.shell.paths import matches
from kwire.shell.position import ImageSource, PositionedImage
from kwire.shell.tree import root


@dataclass(slots=True)
class Context:
    """The state that commands share.

    chosen: the image that `at` chose, None for the latest. width: the columns of the terminal.
    """

    source: ImageSource
    write: Callable[[str], None]
    complain: Callable[[str], None]
    width: Callable[[], int | None]
    working_directory: str = "/"
    chosen: PositionedImage | None = None
    history: list[str] = field(default_factory=list)
    has_ended: bool = False

    def position(self) -> PositionedImage:
        """Return the image that is shown."""
        return self.source.latest() if self.chosen is None else self.chosen

    def root(self) -> FolderNode:
        """Return the tree that is shown."""
        return root(self.position(), str(self.source))

    def find(self, command: str, path: str, top: FolderNode) -> Iterator[tuple[str, TreeNode]]:
        """Yield the paths and nodes that a path stands for; complain if there is none."""
        missing = True
        for found in matches(top, path, self.working_directory):
            missing = False
            yield found
        if missing:
            self.complain(f"{command}: {path}: no such file or directory.")
