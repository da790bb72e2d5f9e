"""The schema that a declaration makes: structs, their fields, and the types of the fields.

The three refer to each other (a struct has fields, a field has a type, a type may be a struct) and
therefore stand in one module. Each becomes a construct at one version of the message around it.
construct is imported then and not before: it takes long to import, and a program whose functions
are read from disk (`kwire.codec.engine_cache`) does without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from kwire.codec.annotations import take_annotations
from kwire.codec.versions import Versions

if TYPE_CHECKING:
    from construct import Construct

    from kwire.codec.constructs import LengthPrefixed, ObjectStruct

    # A checker reads the fields from the annotations; msgspec's own metaclass only confuses it.
    StructMeta = type
else:
    from msgspec import StructMeta

UNSET: Any = object()
ALWAYS = Versions("0+")
NEVER = Versions("none")


class FieldType(msgspec.Struct, frozen=True):
    """A type whose encoding depends on the version of the message around it."""

    def to_construct(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        """Return the construct of this type at one version."""
        raise NotImplementedError

    def new_default(self) -> Any:
        """Return the value that Kafka gives a field that was never set, new where it is mutable."""
        raise NotImplementedError


class Scalar(FieldType, frozen=True):
    """A fixed-size value: the construct is the same in all versions."""

    kind: str
    default: Any

    @property
    def con(self) -> Construct:
        """The construct of the value."""
        return _fixed_size(self.kind)

    def to_construct(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        return self.con

    def new_default(self) -> Any:
        return self.default


class VariableLength(FieldType, frozen=True):
    """A string or bytes: `length` before flexible versions, a compact length from then on.

    classic: the length keeps its form in flexible versions too.
    """

    kind: str
    length: str
    default: Any
    classic: bool = False

    @property
    def construct_class(self) -> type[LengthPrefixed]:
        """The class of its construct: `Text`, `Blob` or `Records`."""
        from kwire.codec.constructs import VARIABLE_LENGTH

        return VARIABLE_LENGTH[self.kind]

    def to_construct(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        compact = flexible and not self.classic
        length = _fixed_size("compact" if compact else self.length)
        return self.construct_class(length, nullable=nullable)

    def new_default(self) -> Any:
        return self.default


class ArrayOf(FieldType, frozen=True):
    """An array of `element`."""

    element: FieldType

    def to_construct(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        from kwire.codec import constructs

        length = _fixed_size("compact" if flexible else "int32")
        element = self.element.to_construct(version, flexible)
        # A tuple of scalars is left alone by the garbage collector; a list of structs can be edited
        # by a filter.
        make = list if isinstance(self.element, StructOf) else tuple
        return constructs.KafkaArray(length, element, make, nullable=nullable)

    def new_default(self) -> Any:
        return [] if isinstance(self.element, StructOf) else ()


class StructOf(FieldType, frozen=True):
    """A nested struct; `marker` and `null` say how its absence is written where it may be null."""

    cls: StructClass
    marker: str = "int8"
    null: int = -1

    def to_construct(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        from kwire.codec import constructs

        struct = self.cls.struct_at(version, flexible)
        if not nullable:
            return struct
        return constructs.NullableStruct(struct, _fixed_size(self.marker), self.null)

    def new_default(self) -> Any:
        return self.cls()


class Nullable(FieldType, frozen=True):
    """A type that may be null in some versions."""

    inner: FieldType
    versions: Versions

    def to_construct(self, version: int, flexible: bool, *, nullable: bool = False) -> Construct:
        return self.inner.to_construct(version, flexible, nullable=version in self.versions)

    def new_default(self) -> Any:
        return self.inner.new_default()


def _fixed_size(kind: str) -> Construct:
    from kwire.codec.constructs import FIXED_SIZE

    return FIXED_SIZE[kind]


def as_field_type(word: Any) -> FieldType:
    """Return the type that a word of a declaration stands for; a class stands for its struct."""
    if isinstance(word, FieldType):
        return word
    assert isinstance(word, type), f"{word!r} is no type of a declaration"
    return StructOf(cast(StructClass, word))


class Field(msgspec.Struct, frozen=True):
    """One declared field.

    versions: the versions that have it. tag: its tag, in `tagged` versions. default: its value
    elsewhere. ignorable: True if a version without it may drop another value.
    """

    type: FieldType
    versions: Versions = ALWAYS
    tag: int | None = None
    tagged: Versions = NEVER
    default: Any = UNSET
    ignorable: bool = False

    def new_default(self) -> Any:
        """Return the default, new where it is mutable."""
        return self.type.new_default() if self.default is UNSET else self.default


class StructClass(StructMeta):
    """The metaclass of structs: makes a msgspec struct of the declared fields and keeps these.

    Facts of a struct are properties here and not attributes of the class, since `key` and `name`
    are also names of fields; a property of the metaclass comes before them.
    """

    tracked = False
    """True if the garbage collector follows instances. Structs in messages are trees: no need."""

    _fields: dict[str, Field]
    _structs: dict[tuple[int, bool], ObjectStruct]

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        base: bool = False,
        **facts: Any,
    ) -> StructClass:
        annotations = take_annotations(namespace)
        fields = {
            attribute: value if isinstance(value, Field) else Field(as_field_type(value))
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
        cls._structs = {}
        cls.declare(**facts)
        return cls

    def __init__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **facts: Any
    ) -> None:
        super().__init__(name, bases, namespace)

    def declare(cls) -> None:
        """Take the facts of the class line: a struct has none, a message has."""

    @property
    def fields(cls) -> dict[str, Field]:
        """The declared fields, by attribute name, in wire order."""
        return cls._fields

    def struct_at(cls, version: int, flexible: bool) -> ObjectStruct:
        """Return the construct of this struct inside a message of this version."""
        struct = cls._structs.get((version, flexible))
        if struct is None:
            struct = cls._structs[version, flexible] = _to_struct(cls, version, flexible)
        return struct


def _attribute(field: Field) -> Any:
    """Return the class attribute that gives msgspec the field's default."""
    type_ = field.type.inner if isinstance(field.type, Nullable) else field.type
    if field.default is UNSET and isinstance(type_, StructOf):
        return msgspec.field(default_factory=type_.cls)
    if (
        field.default is UNSET
        and isinstance(type_, ArrayOf)
        and isinstance(type_.element, StructOf)
    ):
        return msgspec.field(default_factory=list)
    return field.new_default()


def _to_struct(cls: StructClass, version: int, flexible: bool) -> ObjectStruct:
    from kwire.codec import constructs

    plain: dict[str, Construct] = {}
    known: dict[int, constructs.Tag] = {}
    refused: dict[str, Any] = {}
    for name, field in cls.fields.items():
        if version not in field.versions:
            # A version without the field writes only its default; Kafka raises
            # UnsupportedVersionException for another value unless the schema calls the field
            # ignorable.
            if not field.ignorable:
                refused[name] = field.new_default()
        # A field may be plain in some versions and tagged in later ones: Kafka's taggedVersions.
        elif field.tag is not None and version in field.tagged:
            con = field.type.to_construct(version, flexible)
            known[field.tag] = constructs.Tag(name, con, field.new_default())
        else:
            plain[name] = field.type.to_construct(version, flexible)
    tags = constructs.Tags(known) if flexible else None
    return constructs.ObjectStruct(cast(Any, cls), plain, tags, refused)
