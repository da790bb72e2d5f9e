"""The notation of declarations: field types, and the versions and tags of fields.

To a type checker `int32` is an int and `array(Listener)` a list of listeners, so that it can check
a declaration against its annotation. At run time both are field types (`kwire.codec.fields`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast, overload
from uuid import UUID

from kwire.codec.fields import (
    UNSET,
    ArrayOf,
    Field,
    Nullable,
    Scalar,
    StructOf,
    VariableLength,
    as_field_type,
)
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
string: str = cast(Any, VariableLength("string", "int16", ""))
binary: bytes = cast(Any, VariableLength("bytes", "int32", b""))
records: bytes = cast(Any, VariableLength("records", "int32", b""))


def classic(type_: T) -> T:
    """Declare a string with a 2-byte length in flexible versions too: RequestHeader.client_id."""
    field_type = as_field_type(type_)
    inner = field_type.inner if isinstance(field_type, Nullable) else field_type
    assert isinstance(inner, VariableLength)
    classic_type = VariableLength(inner.kind, inner.length, inner.default, classic=True)
    result: Any = (
        Nullable(classic_type, field_type.versions)
        if isinstance(field_type, Nullable)
        else classic_type
    )
    return cast(T, result)


@overload
def array(element: type[S]) -> list[S]: ...  # type: ignore[overload-overlap]  # a class is no T
@overload
def array(element: T) -> tuple[T, ...]: ...
def array(element: Any) -> Any:
    """Declare an array: a list of structs, or a tuple of scalars."""
    return ArrayOf(as_field_type(element))


@overload
def nullable(type_: type[S], versions: str = "0+") -> S | None: ...
@overload
def nullable(type_: T, versions: str = "0+") -> T | None: ...
def nullable(type_: Any, versions: str = "0+") -> Any:
    """Declare a type that may be null in `versions`."""
    return Nullable(as_field_type(type_), Versions(versions))


def struct(cls: type[S]) -> S:
    """Declare a nested struct that is never null."""
    return cast(S, StructOf(cls))


@overload
def since(version: int, type_: type[S], *, default: Any = UNSET, ignorable: bool = False) -> S: ...
@overload
def since(version: int, type_: T, *, default: T = UNSET, ignorable: bool = False) -> T: ...
def since(version: int, type_: Any, *, default: Any = UNSET, ignorable: bool = False) -> Any:
    """Declare a field that `version` and all later ones have."""
    return Field(
        as_field_type(type_), Versions(f"{version}+"), default=default, ignorable=ignorable
    )


def field(type_: T, versions: str = "0+", *, default: T = UNSET, ignorable: bool = False) -> T:
    """Declare a field of exactly these versions, or with a default of its own."""
    field_type = as_field_type(type_)
    return cast(T, Field(field_type, Versions(versions), default=default, ignorable=ignorable))


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
    """Declare a tagged field: not on the wire while it has its default.

    A struct that cannot be null is None while it is absent, so that reading makes no empty objects.
    versions: where it is tagged; within: where it exists at all, when that is more.
    """
    field_type = as_field_type(type_)
    bare = field_type.inner if isinstance(field_type, Nullable) else field_type
    if isinstance(bare, StructOf) and isinstance(field_type, Nullable):
        field_type = Nullable(StructOf(bare.cls, "uvarint", 0), field_type.versions)
    elif isinstance(bare, StructOf):
        default = None
    exists = Versions(within or versions)
    return Field(field_type, exists, tag, Versions(versions), default, ignorable)
