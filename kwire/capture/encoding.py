"""A record as Avro writes it, and as fastavro reads it.

Written by hand where records differ, since fastavro takes three times as long for it; what the
records of a connection have in common is fastavro's, once. A test holds both to the same bytes.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

import fastavro
from crc32c import crc32c

from kwire.capture.record import CaptureRecord
from kwire.capture.schema import CONNECTION_FIELDS, CRC_SIZE, VERSION, schema

PREFIXES = 4096
"""Beginnings of records that are kept."""

_PREFIX = fastavro.parse_schema(
    {"type": "record", "name": "Prefix", "namespace": "kwire.capture", "fields": CONNECTION_FIELDS}
)
_NULL, _PRESENT, _END = b"\0", b"\2", b"\0"


class RecordEncoder:
    """Encodes records, those of the same connection, API and client quickly."""

    def __init__(self) -> None:
        self._prefixes: dict[tuple[object, ...], bytes] = {}

    def encode(self, record: CaptureRecord) -> bytes:
        """Return the bytes of a record in a block, its CRC included."""
        return b"".join(self.pieces(record))

    def pieces(self, record: CaptureRecord) -> tuple[bytes, bytes, bytes]:
        """Return the encoded record in pieces, the frame as it is: a long one is not copied."""
        head = bytearray(self._prefix(record))
        head += long_bytes(record.event)
        head += long_bytes(record.at_us)
        head += long_bytes(record.monotonic_ns)
        for number in (record.correlation_id, record.size):
            head += _NULL if number is None else _PRESENT + long_bytes(number)
        head += _NULL if record.frame is None else _PRESENT + long_bytes(len(record.frame))
        frame, rest = record.frame or b"", _behind(record)
        # Avro's codec null has no checksum, and rotten bytes have to be told from what was
        # recorded.
        crc = crc32c(rest, crc32c(frame, crc32c(head)))
        return bytes(head), frame, rest + crc.to_bytes(CRC_SIZE, "big")

    def _prefix(self, record: CaptureRecord) -> bytes:
        key = (
            record.capture,
            record.connection,
            record.node_id,
            record.peer_id,
            record.client,
            record.upstream,
            record.kind,
            record.api_key,
            record.api_version,
            record.client_id,
        )
        prefix = self._prefixes.get(key)
        if prefix is None:
            if len(self._prefixes) >= PREFIXES:
                self._prefixes.clear()
            names = (str(field["name"]) for field in CONNECTION_FIELDS)
            stream = BytesIO()
            fastavro.schemaless_writer(stream, _PREFIX, dict(zip(names, key, strict=True)))
            prefix = self._prefixes[key] = stream.getvalue()
        return prefix


def _behind(record: CaptureRecord) -> bytes:
    """Return the bytes between the frame and the CRC."""
    out = bytearray(_text(record.redaction))
    out += _text(record.ending)
    out += _texts(record.problems) if record.problems else _END
    out += _texts(record.notes) if record.notes else _END
    out += _texts(record.deeds) if record.deeds else _END
    out += _text(record.notice)
    out += _text(record.text)
    return bytes(out)


class BadRecord(Exception):
    """The bytes of a record are not what was written.

    end: where the next one may begin. cut: the bytes ended before the record did.
    """

    def __init__(self, reason: str, end: int | None, *, cut: bool = False) -> None:
        super().__init__(reason)
        self.end = end
        self.cut = cut


class RecordDecoder:
    """Decodes the records of a version."""

    def __init__(self, version: int) -> None:
        self._schema = _PLAIN_SCHEMAS[version]

    def decode(self, data: bytes, start: int) -> tuple[CaptureRecord, int]:
        """Return the record at `start`, and where it ends. Raises BadRecord."""
        stream = BytesIO(data)
        stream.seek(start)
        try:
            fields: Any = fastavro.schemaless_reader(stream, self._schema, None)
            end = stream.tell()
            crc = fields.pop("crc")
        except Exception as error:  # whatever fastavro makes of bytes that are no record
            cut = stream.tell() >= len(data)
            raise BadRecord(f"no record: {type(error).__name__}", None, cut=cut) from error
        view = memoryview(data)[start : end - CRC_SIZE]
        if int.from_bytes(crc, "big") != crc32c(view):
            raise BadRecord("the CRC of a record is wrong", end)
        fields["at_us"] = fields.pop("at")
        fields["problems"] = tuple(fields["problems"])
        fields["notes"] = tuple(fields["notes"])
        fields["deeds"] = tuple(fields.get("deeds", ()))
        return CaptureRecord(**fields), end


def long_bytes(value: int) -> bytes:
    """Return a number as Avro's int and long: zigzag, seven bits a byte, the lowest first."""
    value = value << 1 ^ value >> 63
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_long(data: bytes, position: int) -> tuple[int, int] | None:
    """Return the number at a position and where it ends; None where it does not."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            return None
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), position
    return None


def _text(text: str | None) -> bytes:
    if text is None:
        return _NULL
    data = text.encode("utf-8", "backslashreplace")
    return _PRESENT + long_bytes(len(data)) + data


def _texts(texts: tuple[str, ...]) -> bytes:
    return long_bytes(len(texts)) + b"".join(_text(text)[1:] for text in texts) + _END


def _plain(part: Any) -> Any:
    """Return the schema with times as numbers, which decode faster and compare exactly."""
    if isinstance(part, dict):
        return {key: _plain(value) for key, value in part.items() if key != "logicalType"}
    if isinstance(part, list):
        return [_plain(element) for element in part]
    return part


_PLAIN_SCHEMAS = {
    version: fastavro.parse_schema(_plain(schema(version))) for version in range(1, VERSION + 1)
}
"""By version; the one of a file's header is for other readers."""
