"""The classes that declarations make.

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

from kwire.codec import engine
from kwire.codec.annotations import take_annotations
from kwire.codec.engine import Decoder, Encoder, Engine
from kwire.codec.nodes import UNSET, ArrayOf, Field, Nullable, StructOf, as_node
from kwire.codec.reference import Reference
from kwire.codec.versions import Versions
from kwire.errors import InvalidValue, UnsupportedVersion

if TYPE_CHECKING:
    from construct import Construct

    from kwire.codec import constructs

    # A checker reads the fields from the annotations; msgspec's own metaclass only confuses it.
    StructMeta = type

    @dataclass_transform(kw_only_default=True)
    class Struct:
        """Stands for msgspec.Struct."""
else:
    from msgspec import Struct, StructMeta


class Declared(StructMeta):
    """Makes a msgspec struct of the declared fields and keeps the declaration beside it.

    What a message says of itself is read here and not from the class, since `key` and `name` are
    also names of fields.
    """

    tracked = False
    """Whether the garbage collector follows instances. Structs in messages are trees: no need."""

    _fields: dict[str, Field]
    _records: dict[tuple[int, bool], constructs.Record]

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        base: bool = False,
        **facts: Any,
    ) -> Declared:
        annotations = take_annotations(namespace)
        fields = {
            attribute: value if isinstance(value, Field) else Field(as_node(value))
            for attribute, value in namespace.items()
            if attribute in annotations
        }
        for attribute, value in fields.items():
            namespace[attribute] = _attribute(value)
        if not base:  # each class has it last, so it cannot be inherited
            annotations["unknown_tags"] = dict[int, bytes] | None
            namespace["unknown_tags"] = None
        # Not kw_only, which only a type checker enforces: positions are three times as fast.
        cls = super().__new__(mcls, name, bases, namespace, gc=mcls.tracked)
        cls._fields = fields
        cls._records = {}
        cls.declare(**facts)
        return cls

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **facts: Any
    ) -> None:
        super().__init__(name, bases, namespace)

    def declare(cls) -> None:
        """A struct has no facts of its own; a message has."""

    @property
    def fields(cls) -> dict[str, Field]:
        """The declared fields, by attribute name, in wire order."""
        return cls._fields

    def record(cls, version: int, flexible: bool) -> constructs.Record:
        """The construct of this struct inside a message of this version."""
        record = cls._records.get((version, flexible))
        if record is None:
            record = cls._records[version, flexible] = _lower(cls, version, flexible)
        return record


def _attribute(field: Field) -> Any:
    node = field.node.inner if isinstance(field.node, Nullable) else field.node
    if field.default is UNSET and isinstance(node, StructOf):
        return msgspec.field(default_factory=node.cls)
    if field.default is UNSET and isinstance(node, ArrayOf) and isinstance(node.element, StructOf):
        return msgspec.field(default_factory=list)
    return field.fresh()


def _lower(cls: Declared, version: int, flexible: bool) -> constructs.Record:
    from kwire.codec import constructs

    plain: dict[str, Construct] = {}
    known: dict[int, constructs.Tag] = {}
    refused: dict[str, Any] = {}
    for name, field in cls.fields.items():
        if version not in field.versions:
            if not field.ignorable:
                refused[name] = field.fresh()
        elif field.tag is not None and version in field.tagged:
            con = field.node.lower(version, flexible)
            known[field.tag] = constructs.Tag(name, con, field.fresh())
        else:
            plain[name] = field.node.lower(version, flexible)
    tags = constructs.Tags(known) if flexible else None
    return constructs.Record(cast(Any, cls), plain, tags, refused)


class Group(Struct, metaclass=Declared, base=True):
    """A struct inside messages. `unknown_tags` keeps tagged fields that no declaration names."""

    if TYPE_CHECKING:
        unknown_tags: dict[int, bytes] | None = None

    def replace(self, **changes: Any) -> Self:
        """A shallow copy with these fields changed."""
        return cast(Self, msgspec.structs.replace(cast(Any, self), **changes))


class MessageType(Declared):
    """What a message class says of itself."""

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
        cls._engines = engine.cache()

    @property
    def key(cls) -> int | None:
        """API key of an RPC, record type of a record; None where there is no such number."""
        return cls._key

    @property
    def versions(cls) -> Versions:
        """Every version that is declared."""
        return cls._versions

    @property
    def flexible(cls) -> Versions:
        """The versions with compact lengths and tagged fields (KIP-482)."""
        return cls._flexible

    @property
    def listeners(cls) -> frozenset[str]:
        """Who serves a request: `broker`, `controller`, `zkBroker`."""
        return cls._listeners

    @property
    def unstable(cls) -> Versions:
        """Versions whose layout may still change without notice."""
        return cls._unstable

    def at(cls, version: int) -> constructs.Record:
        """The construct Struct of one version: parse, build and sizeof work on it."""
        cls._check(version)
        return cls.record(version, version in cls._flexible)

    def reference(cls, version: int) -> Reference:
        """construct as the engine of one version: it judges what the fast engines give up on."""
        cls._check(version)
        return Reference(cls, version)

    def _check(cls, version: int) -> None:
        if version not in cls._versions:
            raise UnsupportedVersion(f"{cls.__name__} has versions {cls._versions}, not {version}")

    def engine(cls, version: int) -> Engine:
        """What decodes and encodes this version, made on first use."""
        made = cls._engines.get(version)
        if made is None:
            made = cls._engines[version] = engine.make(cls.reference(version))
        return made

    def decoder(cls, version: int) -> Decoder:
        """`decode(data, offset=0) -> (obj, end)` without a layer around it, for hot loops."""
        return cls.engine(version).decode

    def encoder(cls, version: int) -> Encoder:
        """`encode(obj) -> bytes` without a layer around it, for hot loops."""
        return cls.engine(version).encode


class Message(Group, metaclass=MessageType, base=True):
    """Anything with a schema name and versions of its own."""

    @classmethod
    def decode(cls, data: bytes | bytearray | memoryview, version: int) -> Self:
        """The message that `data` holds, all of it; DecodeError when bytes are left over."""
        obj, end = cls.engine(version).decode(data, 0)
        size = data.nbytes if isinstance(data, memoryview) else len(data)
        if end != size:
            raise cls.reference(version).left_over(size - end, end)
        return cast(Self, obj)

    @classmethod
    def decode_from(
        cls, data: bytes | bytearray | memoryview, version: int, offset: int = 0
    ) -> tuple[Self, int]:
        """The message that begins at `offset`, and the offset behind it.

        InvalidValue for an offset before the data; one behind it leaves nothing to read.
        """
        if offset < 0:
            raise InvalidValue(f"offset {offset} lies before the data")
        return cast(tuple[Self, int], cls.engine(version).decode(data, offset))

    def encode(self, version: int) -> bytes:
        """The bytes of this version; EncodeError when a value does not fit it."""
        return type(self).engine(version).encode(self)


class Request(Message, base=True):
    """The body of a request."""


class Response(Message, base=True):
    """The body of a response."""


class Header(Message, base=True):
    """What precedes the body in a frame."""


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
