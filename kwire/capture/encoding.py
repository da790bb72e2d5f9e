"""A record as Avro writes it.

What the records of a connection have in common is encoded once; where they differ, by hand rather
than by the schema. A test holds both to the bytes of fastavro.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crc32c import crc32c

from kwire.capture.avro import END, NULL, PRESENT, BadAvro, long_bytes, reader, writer
from kwire.capture.record import CaptureRecord
from kwire.capture.schema import CONNECTION_FIELDS, CRC_SIZE, schema
from kwire.codec import engine_choice

PREFIXES = 4096
"""Beginnings of records that are kept."""

_PREFIX = writer({"type": "record", "fields": CONNECTION_FIELDS})


class OpenRecord(NamedTuple):
    """An encoded record whose CRC is still to be computed and to follow it."""

    head: bytes
    frame: bytes
    rest: bytes


class EncodedRecords(NamedTuple):
    """Encoded records that follow each other, and how many they are."""

    data: bytes
    records: int


class RecordEncoder:
    """Encodes records, those of the same connection, API and client quickly."""

    def __init__(self) -> None:
        self._prefixes: dict[tuple[object, ...], bytes] = {}

    def encode(self, record: CaptureRecord) -> bytes:
        """Return the bytes of a record in a block, its CRC included."""
        data = b"".join(self.encode_open(record))
        # Avro's codec null has no checksum, and rotten bytes have to be told from what was
        # recorded.
        return data + crc32c(data).to_bytes(CRC_SIZE, "big")

    def encode_open(self, record: CaptureRecord) -> OpenRecord:
        """Return a record without its CRC, the frame as it is: a long one is not copied."""
        head = bytearray(self.prefix(record))
        head += long_bytes(record.event)
        head += long_bytes(record.at_us)
        head += long_bytes(record.monotonic_ns)
        for number in (record.correlation_id, record.size):
            head += NULL if number is None else PRESENT + long_bytes(number)
        head += NULL if record.frame is None else PRESENT + long_bytes(len(record.frame))
        return OpenRecord(bytes(head), record.frame or b"", behind_frame(record))

    def prefix(self, record: CaptureRecord) -> bytes:
        """Return the beginning, which records of a connection, kind, API and client share."""
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
            prefix = self._prefixes[key] = _PREFIX(dict(zip(names, key, strict=True)))
        return prefix


def behind_frame(record: CaptureRecord) -> bytes:
    """Return the bytes between the frame and the CRC."""
    out = bytearray(_text(record.redaction))
    out += _text(record.ending)
    out += _texts(record.problems) if record.problems else END
    out += _texts(record.notes) if record.notes else END
    out += _texts(record.deeds) if record.deeds else END
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
        self._read = reader(schema(version))
        self._native = _native_decoder(version) if engine_choice.allows_native() else None

    def decode(self, data: bytes, start: int) -> tuple[CaptureRecord, int]:
        """Return the record at `start`, and where it ends. Raises BadRecord."""
        if self._native is not None and (decoded := self._native(data, start)) is not None:
            record, end = decoded
            crc = data[end : end + CRC_SIZE]
            if crc == crc32c(memoryview(data)[start:end]).to_bytes(CRC_SIZE, "big"):
                return record, end + CRC_SIZE
        return self._decode(data, start)

    def _decode(self, data: bytes, start: int) -> tuple[CaptureRecord, int]:
        """Decode by the schema, which knows what is wrong."""
        try:
            fields, end = self._read(data, start)
        except BadAvro as error:
            raise BadRecord(f"no record: {error}", None) from error
        except IndexError as error:
            raise BadRecord("no record: its bytes end before it does", None, cut=True) from error
        crc = fields.pop("crc")
        view = memoryview(data)[start : end - CRC_SIZE]
        if int.from_bytes(crc, "big") != crc32c(view):
            raise BadRecord("the CRC of a record is wrong", end)
        fields["at_us"] = fields.pop("at")
        fields["problems"] = tuple(fields["problems"])
        fields["notes"] = tuple(fields["notes"])
        fields["deeds"] = tuple(fields.get("deeds", ()))
        return CaptureRecord(**fields), end


def _native_decoder(
    version: int,
) -> Callable[[bytes, int], tuple[CaptureRecord, int] | None] | None:
    try:
        from kwire.capture.native.record_decoder import decoder_of

        return decoder_of(version).decode
    except (ImportError, ValueError):  # not built, or of another msgspec
        return None


def _text(text: str | None) -> bytes:
    if text is None:
        return NULL
    data = text.encode("utf-8", "backslashreplace")
    return PRESENT + long_bytes(len(data)) + data


def _texts(texts: tuple[str, ...]) -> bytes:
    return long_bytes(len(texts)) + b"".join(_text(text)[1:] for text in texts) + END
