"""The parts of a declaration: each node says what it is in construct at one version.

A node names its construct and imports it when it is lowered, since a program whose functions are
read from disk (`kwire.codec.engine_cache`) does without construct, which takes long to import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import msgspec

from kwire.codec.versions import Versions

if TYPE_CHECKING:
    from construct import Construct

    from kwire.codec.declaration import Group

UNSET: Any = object()
ALWAYS = Versions("0+")
NEVER = Versions("none")


class Node(msgspec.Struct, frozen=True):
    """A type whose encoding depends on the version of the message around it."""

    def lower(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        """The construct of this type at one version."""
        raise NotImplementedError

    def fresh(self) -> Any:
        """The value that Kafka gives a field that was never set."""
        raise NotImplementedError


class Scalar(Node, frozen=True):
    """A fixed-size value: the construct is the same in all versions."""

    kind: str
    default: Any

    @property
    def con(self) -> Construct:
        """The construct of the value."""
        return _named(self.kind)

    def lower(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        return self.con

    def fresh(self) -> Any:
        return self.default


class Lengthy(Node, frozen=True):
    """A string or bytes: `length` before flexible versions, a compact length from then on."""

    kind: str
    length: str
    default: Any
    classic: bool = False

    @property
    def make(self) -> Callable[..., Construct]:
        """The class of its construct: `Text`, `Blob` or `Records`."""
        from kwire.codec.words import LENGTHY

        return LENGTHY[self.kind]

    def lower(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        compact = flexible and not self.classic
        return self.make(_named("compact" if compact else self.length), nullable=nullable)

    def fresh(self) -> Any:
        return self.default


class ArrayOf(Node, frozen=True):
    """An array of `element`."""

    element: Node

    def lower(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        from kwire.codec import constructs

        length = _named("compact" if flexible else "int32")
        element = self.element.lower(version, flexible)
        make = list if isinstance(self.element, StructOf) else tuple
        return constructs.Items(length, element, make, nullable=nullable)

    def fresh(self) -> Any:
        return [] if isinstance(self.element, StructOf) else ()


class StructOf(Node, frozen=True):
    """A nested struct; `marker` and `null` say how its absence is written where it may be null."""

    cls: type[Group]
    marker: str = "int8"
    null: int = -1

    def lower(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        from kwire.codec import constructs

        record = self.cls.record(version, flexible)
        return constructs.Maybe(record, _named(self.marker), self.null) if nullable else record

    def fresh(self) -> Any:
        return self.cls()


class Nullable(Node, frozen=True):
    """A type that may be null in some versions."""

    inner: Node
    versions: Versions

    def lower(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        return self.inner.lower(version, flexible, nullable=version in self.versions)

    def fresh(self) -> Any:
        return self.inner.fresh()


class Field(msgspec.Struct, frozen=True):
    """One declared field.

    versions: where it exists. tag: its tag, in `tagged` versions. default: what stands for it
    elsewhere. ignorable: whether a version without it may drop another value.
    """

    node: Node
    versions: Versions = ALWAYS
    tag: int | None = None
    tagged: Versions = NEVER
    default: Any = UNSET
    ignorable: bool = False

    def fresh(self) -> Any:
        """The default, new where it is mutable."""
        return self.node.fresh() if self.default is UNSET else self.default


def _named(kind: str) -> Construct:
    from kwire.codec.words import FIXED

    return FIXED[kind]


def as_node(type_: Any) -> Node:
    """The node that a declaration's word stands for; a class stands for its struct."""
    if isinstance(type_, Node):
        return type_
    assert isinstance(type_, type), f"{type_!r} is no type of a declaration"
    return StructOf(cast(Any, type_))
