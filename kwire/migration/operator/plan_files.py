"""The files and the order of a plan, as text (KIP-866)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kwire.text.untrusted import harmless


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """The properties of one node in one step.

    target: the node's own file, for a sentence. add: to be set. remove: names of properties that
    have to go, those that begin with it where it ends with a dot. warning: what the plan could not
    know.
    """

    name: str
    node: str
    target: str = "server.properties"
    add: Mapping[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    warning: str = ""

    @property
    def text(self) -> str:
        """The content of the file: comments, and properties to add."""
        lines = [f"# {self.node}"]
        # A broker wrote it: a line of its own would be a property.
        lines += [f"# Check this: {harmless(self.warning)}"] if self.warning else []
        if self.remove:
            lines.append(f"# Remove from {self.target}:")
            lines += [f"#   {name}{'*' if name.endswith('.') else ''}" for name in self.remove]
        if self.add:
            lines.append(f"# Set in {self.target}:")
        lines += [f"{name}={_escaped(value)}" for name, value in self.add.items()]
        return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    """Return a value as a file has it: people read these files, so colons stay as they are."""
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStep:
    """A step. folder: of its files. actions: what to do, in order; a command stands by itself."""

    folder: str
    title: str
    actions: tuple[str, ...]
    files: tuple[PlanFile, ...] = ()


def plan_files(steps: Sequence[MigrationStep]) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of each file, the order of the steps first."""
    yield "ORDER.txt", order_text(steps)
    for step in steps:
        for file in step.files:
            yield f"{step.folder}/{file.name}", file.text


def order_text(steps: Sequence[MigrationStep]) -> str:
    """Return the steps and their actions as text."""
    paragraphs = []
    for step in steps:
        lines = [f"{step.folder}: {step.title}"]
        lines += [f"  {number}. {harmless(text)}" for number, text in enumerate(step.actions, 1)]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs) + "\n"
