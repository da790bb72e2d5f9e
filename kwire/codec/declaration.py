"""The base classes of declared messages.

A class is a Python type with one attribute a field, for all versions of the message;
`Message.at(version)` is the construct Struct of one version, and `decode` and `encode` go through
the fastest engine there is.

    class Listener(Group):
        name: str = string
        port: int = uint16

    class AddRaftVoterRequest(Request, key=80, versions="0-1", flexible="0+"):
        voter_id: int = int32
        listeners: list[Listener] = array(Listener)
        ack_when_committed: bool = since(1, boolean, default=True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast, dataclass_transform

import msgspec

from kwire.codec import engine_choice
from kwire.codec.engine import Decoder, Encoder, Engine
from kwire.codec.fields import StructClass
from kwire.codec.reference import Reference
from kwire.codec.versions import Versions
from kwire.errors import InvalidValue, UnsupportedVersion

if TYPE_CHECKING:
    from kwire.codec.constructs import ObjectStruct

    @dataclass_transform(kw_only_default=True)
    class Struct:
        """Stands for msgspec.Struct, whose own metaclass confuses a type checker."""
else:
    from msgspec import Struct


class Group(Struct, metaclass=StructClass, base=True):
    """A struct inside messages. `unknown_tags` keeps tagged fields that no declaration names."""

    if TYPE_CHECKING:
        unknown_tags: dict[int, bytes] | None = None

    def replace(self, **changes: Any) -> Self:
        """Return a shallow copy with these fields changed."""
        return cast(Self, msgspec.structs.replace(cast(Any, self), **changes))


class MessageClass(StructClass):
    """The metaclass of messages: a struct with a key, versions and engines of its own."""

    _key: int | None
    _versions: Versions
    _flexible: Versions
    _listeners: frozenset[str]
    _unstable: Versions
    _engines: dict[int, Engine]

    tracked = True

    def declare(
        cls,
        key: int | None = None,
        versions: str = "none",
        flexible: str = "none",
        listeners: str = "",
        unstable: str = "none",
    ) -> None:
        """Take the facts of the class line."""
        cls._key = key
        cls._versions = Versions(versions)
        cls._flexible = Versions(flexible)
        cls._listeners = frozenset(listeners.split())
        cls._unstable = Versions(unstable)
        cls._engines = engine_choice.new_cache()

    @property
    def key(cls) -> int | None:
        """The API key of an RPC, or the type of a record; None for other messages."""
        return cls._key

    @property
    def versions(cls) -> Versions:
        """The versions that are declared."""
        return cls._versions

    @property
    def flexible(cls) -> Versions:
        """The versions with compact lengths and tagged fields (KIP-482)."""
        return cls._flexible

    @property
    def listeners(cls) -> frozenset[str]:
        """The kinds of nodes that serve a request: `broker`, `controller`, `zkBroker`."""
        return cls._listeners

    @property
    def unstable(cls) -> Versions:
        """Versions whose layout may still change without notice."""
        return cls._unstable

    def at(cls, version: int) -> ObjectStruct:
        """Return the construct Struct of one version: parse, build and sizeof work on it.

        Raises UnsupportedVersion where the message has no such version.
        """
        cls._check(version)
        return cls.struct_at(version, version in cls._flexible)

    def reference(cls, version: int) -> Reference:
        """Return the reference engine of one version: it judges what the fast ones give up on.

        Raises UnsupportedVersion where the message has no such version.
        """
        cls._check(version)
        return Reference(cls, version, version in cls._flexible)

    def _check(cls, version: int) -> None:
        if version not in cls._versions:
            raise UnsupportedVersion(f"{cls.__name__} has versions {cls._versions}, not {version}")

    def engine(cls, version: int) -> Engine:
        """Return the engine that decodes and encodes this version, made on first use."""
        engine = cls._engines.get(version)
        if engine is None:
            engine = cls._engines[version] = engine_choice.fastest(cls.reference(version))
        return engine

    def decoder(cls, version: int) -> Decoder:
        """Return the engine's `decode(data, offset=0) -> (obj, end)` itself, for hot loops."""
        return cls.engine(version).decode

    def encoder(cls, version: int) -> Encoder:
        """Return the engine's `encode(obj) -> bytes` itself, for hot loops."""
        return cls.engine(version).encode


class Message(Group, metaclass=MessageClass, base=True):
    """The base of everything that has a schema name and versions."""

    @classmethod
    def decode(cls, data: bytes | bytearray | memoryview, version: int) -> Self:
        """Return the message that `data` holds; raise DecodeError also when bytes are left over."""
        obj, end = cls.engine(version).decode(data, 0)
        # len() of a memoryview counts its elements, which may be larger than a byte.
        size = data.nbytes if isinstance(data, memoryview) else len(data)
        if end != size:
            raise cls.reference(version).left_over(size - end, end)
        return cast(Self, obj)

    @classmethod
    def decode_from(
        cls, data: bytes | bytearray | memoryview, version: int, offset: int = 0
    ) -> tuple[Self, int]:
        """Return the message that begins at `offset`, and the offset after it.

        Raises InvalidValue for an offset before the data; one after it leaves nothing to read,
        which is a DecodeError.
        """
        # A slice would count a negative offset from the end.
        if offset < 0:
            raise InvalidValue(f"offset {offset} lies before the data")
        return cast(tuple[Self, int], cls.engine(version).decode(data, offset))

    def encode(self, version: int) -> bytes:
        """Return the bytes of this version; raise EncodeError when a value does not fit it."""
        return type(self).engine(version).encode(self)


class Request(Message, base=True):
    """The body of a request."""


class Response(Message, base=True):
    """The body of a response."""


class Header(Message, base=True):
    """The part of a frame before the body."""


class MetadataRecord(Message, base=True):
    """A record of the cluster metadata log; `key` is its record type."""


class RemoteLogMetadataRecord(Message, base=True):
    """A record of the remote log metadata topic, whose record types overlap with the above."""


class CoordinatorKey(Message, base=True):
    """The key of a coordinator's record; `key` is its record type."""


class CoordinatorValue(Message, base=True):
    """The value of a coordinator's record; `key` is its record type."""


class Data(Message, base=True):
    """A format that lives inside records, files or byte fields."""
