"""The words that messages are declared in.

To a type checker `int32` is an int and `array(Listener)` a list of listeners, so that it can hold a
declaration against its annotation; at run time both are nodes that become construct objects
(`kwire.codec.words`) when they are lowered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast, overload
from uuid import UUID

from kwire.codec.nodes import UNSET, ArrayOf, Field, Lengthy, Nullable, Scalar, StructOf, as_node
from kwire.codec.versions import Versions

if TYPE_CHECKING:
    from kwire.codec.declaration import Group

T = TypeVar("T")
S = TypeVar("S", bound="Group")


def _type(kind: str, default: Any) -> Any:
    return Scalar(kind, default)


int8: int = _type("int8", 0)
int16: int = _type("int16", 0)
uint16: int = _type("uint16", 0)
int32: int = _type("int32", 0)
uint32: int = _type("uint32", 0)
int64: int = _type("int64", 0)
float64: float = _type("float64", 0.0)
boolean: bool = _type("boolean", False)
uuid: UUID = _type("uuid", UUID(int=0))
string: str = cast(Any, Lengthy("string", "int16", ""))
binary: bytes = cast(Any, Lengthy("bytes", "int32", b""))
records: bytes = cast(Any, Lengthy("records", "int32", b""))


def classic(type_: T) -> T:
    """A string that keeps its 2-byte length in flexible versions: RequestHeader.client_id."""
    node = as_node(type_)
    inner = node.inner if isinstance(node, Nullable) else node
    assert isinstance(inner, Lengthy)
    kept = Lengthy(inner.kind, inner.length, inner.default, classic=True)
    result: Any = Nullable(kept, node.versions) if isinstance(node, Nullable) else kept
    return cast(T, result)


@overload
def array(element: type[S]) -> list[S]: ...  # type: ignore[overload-overlap]  # a class is no T
@overload
def array(element: T) -> tuple[T, ...]: ...
def array(element: Any) -> Any:
    """An array: a list of structs, or a tuple of scalars."""
    return ArrayOf(as_node(element))


@overload
def nullable(type_: type[S], versions: str = "0+") -> S | None: ...
@overload
def nullable(type_: T, versions: str = "0+") -> T | None: ...
def nullable(type_: Any, versions: str = "0+") -> Any:
    """A type that may be null in `versions`."""
    return Nullable(as_node(type_), Versions(versions))


def struct(cls: type[S]) -> S:
    """A nested struct that is always there."""
    return cast(S, StructOf(cls))


@overload
def since(version: int, type_: type[S], *, default: Any = UNSET, ignorable: bool = False) -> S: ...
@overload
def since(version: int, type_: T, *, default: T = UNSET, ignorable: bool = False) -> T: ...
def since(version: int, type_: Any, *, default: Any = UNSET, ignorable: bool = False) -> Any:
    """A field that `version` and all later ones have."""
    return Field(as_node(type_), Versions(f"{version}+"), default=default, ignorable=ignorable)


def field(type_: T, versions: str = "0+", *, default: T = UNSET, ignorable: bool = False) -> T:
    """A field of exactly these versions, or with a default of its own."""
    node = as_node(type_)
    return cast(T, Field(node, Versions(versions), default=default, ignorable=ignorable))


@overload
def tagged(
    tag: int, type_: type[S], versions: str = "0+", *, within: str = "", ignorable: bool = False
) -> S | None: ...
@overload
def tagged(
    tag: int,
    type_: T,
    versions: str = "0+",
    *,
    within: str = "",
    default: T = UNSET,
    ignorable: bool = False,
) -> T: ...
def tagged(
    tag: int,
    type_: Any,
    versions: str = "0+",
    *,
    within: str = "",
    default: Any = UNSET,
    ignorable: bool = False,
) -> Any:
    """A tagged field: not on the wire while it has its default.

    A struct that cannot be null is None while it is absent, so that reading makes no empty objects.
    versions: where it is tagged; within: where it exists at all, when that is more.
    """
    node = as_node(type_)
    bare = node.inner if isinstance(node, Nullable) else node
    if isinstance(bare, StructOf) and isinstance(node, Nullable):
        node = Nullable(StructOf(bare.cls, "uvarint", 0), node.versions)
    elif isinstance(bare, StructOf):
        default = None
    exists = Versions(within or versions)
    return Field(node, exists, tag, Versions(versions), default, ignorable)
