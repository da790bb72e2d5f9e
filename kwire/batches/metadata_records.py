"""The values of the metadata log: a frame around a metadata record (KIP-631).

Frame version 1, record type, record version, each an unsigned varint, and the record itself.
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

from construct import ConstructError
from msgspec import Struct

from kwire.codec import engine_choice
from kwire.codec.constructs import uvarint
from kwire.codec.declaration import MetadataRecord
from kwire.codec.engine import Decoder
from kwire.errors import DecodeError
from kwire.messages.index import METADATA_RECORDS
from kwire.messages.registry import metadata_record

FRAME_VERSION = 1


class OpaqueRecord(Struct, frozen=True, kw_only=True, gc=False):
    """A record of a type or version that no declaration knows, kept byte for byte."""

    type: int
    body: bytes


class VersionedRecord(Struct, frozen=True, kw_only=True, gc=False):
    """A metadata record and the version it is written at (Java: ApiMessageAndVersion)."""

    record: MetadataRecord | OpaqueRecord
    version: int

    @property
    def type(self) -> int:
        """The record type of the record."""
        if isinstance(self.record, OpaqueRecord):
            return self.record.type
        key = type(self.record).key
        assert key is not None, f"{type(self.record).__name__} has no record type"
        return key

    def encode(self) -> bytes:
        """Return the value of a record in the log; raise EncodeError if it does not fit."""
        frame = _frame(self.type, self.version)
        if isinstance(self.record, OpaqueRecord):
            return frame + self.record.body
        return frame + self.record.encode(self.version)


def read_metadata_record(value: bytes) -> VersionedRecord:
    """Return the record in a value of the metadata log.

    Raises DecodeError if frame or record are broken.
    """
    if len(value) > 2 and value[0] == FRAME_VERSION:
        known = _decoders.get(value[1] << 8 | value[2])
        if known is not None:
            decode, version = known
            record, end = decode(value, 3)
            if end == len(value):
                return VersionedRecord(record=record, version=version)
    return _read_any(value)


_decoders: dict[int, tuple[Decoder, int]] = engine_choice.new_cache()
"""By the two bytes of record type and version: of the records that were read before."""


def _read_any(value: bytes) -> VersionedRecord:
    type, version, start = _read_frame(value)
    declared = _declared(type, version)
    if declared is None:
        # A newer Kafka's record: kept as bytes, so that a log can be copied and dumped whole.
        body = value[start:]
        return VersionedRecord(record=OpaqueRecord(type=type, body=body), version=version)
    decode = declared.decoder(version)
    record, end = decode(value, start)
    if end != len(value):
        raise declared.reference(version).left_over(len(value) - end, end)
    if start == 3:  # one byte each, as all that exist
        _decoders[type << 8 | version] = decode, version
    return VersionedRecord(record=record, version=version)


@lru_cache(maxsize=256)
def _frame(type: int, version: int) -> bytes:
    """Return the frame of a record; a log has few kinds of them."""
    frame = BytesIO()
    for number in (FRAME_VERSION, type, version):
        uvarint.build_stream(number, frame)
    return frame.getvalue()


@lru_cache(maxsize=256)
def _declared(type: int, version: int) -> type[MetadataRecord] | None:
    """Return the declaration that has that version of a record type."""
    if type not in METADATA_RECORDS:
        return None
    declared = metadata_record(type)
    return declared if version in declared.versions else None


def _read_frame(value: bytes) -> tuple[int, int, int]:
    """Record type, record version, and where the record begins."""
    if len(value) > 2 and value[0] == FRAME_VERSION and value[1] < 0x80 and value[2] < 0x80:
        return value[1], value[2], 3  # one byte each, as all that exist
    # A longer varint is legal and never written: construct reads it and says what is wrong with it.
    stream = BytesIO(value)
    try:
        frame_version, type, version = (uvarint.parse_stream(stream) for _ in range(3))
    except ConstructError as error:
        raise _broken(str(error).rpartition("\n")[2], stream.tell()) from None
    if frame_version != FRAME_VERSION:
        raise _broken(f"frame version {frame_version}, {FRAME_VERSION} wanted", 0)
    return type, version, stream.tell()


def _broken(reason: str, offset: int) -> DecodeError:
    return DecodeError(reason, message="MetadataRecord", version=FRAME_VERSION, offset=offset)
