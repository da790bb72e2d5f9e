"""The records of control batches: transaction markers and the quorum's own (KIP-98, KIP-595).

The key is a version and a type. The quorum's messages begin with their own version, a transaction
marker has it before itself. Types and versions that nobody knows pass as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from struct import error as StructError

from kwire.batches import Record
from kwire.errors import BatchError
from kwire.messages.data.end_txn_marker import EndTxnMarker
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.snapshot_footer_record import SnapshotFooterRecord
from kwire.messages.data.snapshot_header_record import SnapshotHeaderRecord
from kwire.messages.data.voters_record import VotersRecord


class ControlRecordType(IntEnum):
    """The type in the key of a control record."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


QuorumMessage = (
    LeaderChangeMessage
    | SnapshotHeaderRecord
    | SnapshotFooterRecord
    | KRaftVersionRecord
    | VotersRecord
)
"""A message that a KRaft leader or a snapshot writer puts into control records."""

ControlMessage = EndTxnMarker | QuorumMessage

QUORUM_MESSAGES: dict[int, type[QuorumMessage]] = {
    ControlRecordType.LEADER_CHANGE: LeaderChangeMessage,
    ControlRecordType.SNAPSHOT_HEADER: SnapshotHeaderRecord,
    ControlRecordType.SNAPSHOT_FOOTER: SnapshotFooterRecord,
    ControlRecordType.KRAFT_VERSION: KRaftVersionRecord,
    ControlRecordType.KRAFT_VOTERS: VotersRecord,
}
"""The class of each message by its type."""

_TYPE_OF = {message: type for type, message in QUORUM_MESSAGES.items()}
_KEY = Struct(">hh")
_VERSION = Struct(">h")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecord:
    """One record of a control batch.

    type: a ControlRecordType, or a number that Kafka does not know either.
    version: of the message; message: None where type or version is unknown.
    record: as it stands in the batch, its offset included.
    """

    type: int
    version: int
    message: ControlMessage | None
    record: Record


def read_control_record(record: Record) -> ControlRecord:
    """Return the type and message of a record in a control batch.

    Raises BatchError if it is no control record, DecodeError if the message is broken.
    """
    try:
        key_version, type = _KEY.unpack_from(record.key or b"")
        if key_version < 0:
            raise StructError(f"key version {key_version}")
        if type not in set(ControlRecordType):
            return ControlRecord(type=type, version=-1, message=None, record=record)
        (version,) = _VERSION.unpack_from(record.value or b"")
    except StructError as error:
        raise BatchError(f"offset {record.offset} is no control record: {error}") from None
    kind = ControlRecordType(type)
    message = _message(kind, version, record.value or b"")
    return ControlRecord(type=kind, version=version, message=message, record=record)


def _message(type: int, version: int, value: bytes) -> ControlMessage | None:
    if type in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
        if version not in EndTxnMarker.versions:
            return None
        return EndTxnMarker.decode_from(value, version, _VERSION.size)[0]
    kind = QUORUM_MESSAGES[type]
    return kind.decode_from(value, version)[0] if version in kind.versions else None


def quorum_record(message: QuorumMessage, *, timestamp: int = -1) -> Record:
    """Return the record of a message, at the version that the message itself names."""
    key = _KEY.pack(0, _TYPE_OF[type(message)])
    return Record(key=key, value=message.encode(message.version), timestamp=timestamp)
