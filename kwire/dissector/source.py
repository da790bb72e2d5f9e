"""Puts the Lua file together: hand-written parts, and what the declarations say between them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import cast

from kwire.codec.declaration import CoordinatorKey, CoordinatorValue, Message, MessageClass
from kwire.dissector.proto_fields import PREFIX, STRUCT, ProtoFields, snake
from kwire.dissector.structs import StructFunctions
from kwire.dissector.value_names import lua_text, table_lines
from kwire.messages.data.end_txn_marker import EndTxnMarker
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.snapshot_footer_record import SnapshotFooterRecord
from kwire.messages.data.snapshot_header_record import SnapshotHeaderRecord
from kwire.messages.data.voters_record import VotersRecord
from kwire.messages.index import APIS, METADATA_RECORDS
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.registry import all_messages, metadata_record, request, response

DEFAULT_PORTS = "9092,9093"
"""Kafka's usual ports of brokers and controllers."""

_CONTROL_RECORDS: dict[int, tuple[type[Message], str]] = {
    0: (EndTxnMarker, "ABORT"),
    1: (EndTxnMarker, "COMMIT"),
    2: (LeaderChangeMessage, "LEADER_CHANGE"),
    3: (SnapshotHeaderRecord, "SNAPSHOT_HEADER"),
    4: (SnapshotFooterRecord, "SNAPSHOT_FOOTER"),
    5: (KRaftVersionRecord, "KRAFT_VERSION"),
    6: (VotersRecord, "KRAFT_VOTERS"),
}
"""The messages of control records by type (Java: ControlRecordType)."""

_TOPIC_OF = {
    "TransactionLog": "__transaction_state",
    "ShareSnapshot": "__share_group_state",
    "ShareUpdate": "__share_group_state",
}
"""The topics of coordinators' records, where they are not `__consumer_offsets`."""


@cache
def dissector_source(ports: str = DEFAULT_PORTS) -> str:
    """Return the Lua file; `ports` is the default of its preference, as in "9092,9093"."""
    fields = ProtoFields()
    functions = StructFunctions(fields)
    tables = list(_apis(functions))
    fields_of_apis = len(fields)
    tables += [
        *_metadata_records(functions),
        *_control_records(functions),
        *_coordinator_records(functions),
    ]
    parts = [
        [f"local DEFAULT_PORTS = {lua_text(ports)}"],
        [f"local METADATA_TOPIC = {lua_text(METADATA_TOPIC)}"],
        [f"local METADATA_TOPIC_ID = {_raw(METADATA_TOPIC_ID.bytes)}"],
        table_lines(),
        [_part("protocol")],
        _field_lines(fields, fields_of_apis),
        [_part(name) for name in ("reading", "compression", "records")],
        functions,
        tables,
        [_part(name) for name in ("streams", "frames", "segments")],
    ]
    return _part("title") + "\n".join(line for part in parts for line in part) + "\n"


def _part(name: str) -> str:
    return (resources.files("kwire.dissector") / "lua" / f"{name}.lua").read_text("utf-8")


def _raw(data: bytes) -> str:
    return '"' + "".join(f"\\{byte}" for byte in data) + '"'


def _field_lines(fields: ProtoFields, fields_of_apis: int) -> Iterator[str]:
    for number, field in enumerate(fields):
        if number == fields_of_apis:
            yield "owner = records_proto"
        arguments = [lua_text(f"{PREFIX}.{field.name}"), f"ftypes.{field.type}"]
        if field.values or field.label:
            arguments.append(field.values or "nil")
        if field.label:
            arguments += ["nil", lua_text(field.label)]
        yield f"field({', '.join(arguments)})"
    yield "owner = proto"


def _apis(functions: StructFunctions) -> Iterator[str]:
    for key, name in APIS.items():
        prefix = snake(name)
        yield f"API[{key}] = {{"
        yield f"  name = {lua_text(name)},"
        yield f"  request = {_message(functions, request(key), prefix, f'{prefix}.request')},"
        yield f"  response = {_message(functions, response(key), prefix, f'{prefix}.response')},"
        yield "}"


def _metadata_records(functions: StructFunctions) -> Iterator[str]:
    for key in METADATA_RECORDS:
        yield f"METADATA_RECORD[{key}] = {_record(functions, metadata_record(key))}"


def _control_records(functions: StructFunctions) -> Iterator[str]:
    for key, (cls, title) in _CONTROL_RECORDS.items():
        yield f"CONTROL_RECORD[{key}] = {_record(functions, cls)}"
        yield f"CONTROL_TYPES[{key}] = {lua_text(title)}"


def _coordinator_records(functions: StructFunctions) -> Iterator[str]:
    """Keys say their type in two bytes; values say their version (Java: CoordinatorRecordSerde)."""
    for cls in all_messages():
        kind = "KEYS" if issubclass(cls, CoordinatorKey) else "VALUES"
        if not issubclass(cls, CoordinatorKey | CoordinatorValue):
            continue
        subject = cls.__name__.removesuffix("Key").removesuffix("Value")
        topic = lua_text(_TOPIC_OF.get(subject, "__consumer_offsets"))
        yield f"COORDINATOR_{kind}[{topic}][{cls.key}] = {_record(functions, cls)}"


def _record(functions: StructFunctions, cls: type[Message]) -> str:
    prefix = snake(cls.__name__)
    return _message(functions, cast(MessageClass, cls), prefix, prefix)


def _message(functions: StructFunctions, cls: MessageClass, prefix: str, root: str) -> str:
    """Return the table entry of a message: its name, function, root field and versions.

    versions: true where the version is flexible, false where it is not, nil where it is unknown.
    """
    versions = ", ".join(
        f"[{version}] = {'true' if version in cls.flexible else 'false'}"
        for version in cls.versions
    )
    number = functions.field(root, STRUCT)
    function = functions.message(cls, prefix)
    return (
        f"{{ name = {lua_text(cls.__name__)}, root = {number}, read = {function}, "
        f"versions = {{ {versions} }} }}"
    )
