"""Makes messages of formats 0 and 1, which Kafka 4 still reads from old logs but never writes."""

from __future__ import annotations

from collections.abc import Iterable
from struct import error as StructError
from zlib import crc32

from kwire.batches import legacy
from kwire.batches.compression import Compression, compress
from kwire.batches.current import APPEND_TIME
from kwire.batches.layout import PREFIX
from kwire.batches.record import Record
from kwire.batches.records import latest, numbered_from
from kwire.errors import EncodeError


def build_legacy_batch(
    records: Iterable[Record],
    magic: int,
    *,
    base_offset: int = 0,
    compression: Compression = Compression.NONE,
    log_append_time: int | None = None,
) -> bytes:
    """Return a message for each record, or one message that wraps them all, compressed.

    log_append_time: the broker's time, in milliseconds; format 0 has no time at all.
    Raises EncodeError for record headers, zstd, and numbers that their field has no room for.
    """
    numbered = numbered_from(base_offset, records)
    form = _Form(magic, log_append_time)
    try:
        if compression is Compression.NONE:
            return b"".join(form.message(record, record.offset) for record in numbered)
        return form.wrapper(numbered, compression)
    except (StructError, ValueError) as error:
        raise EncodeError(str(error), message="Message", version=magic) from None


class _Form:
    """The settings that the messages of one call share."""

    def __init__(self, magic: int, append_time: int | None) -> None:
        self.magic = magic
        self.append_time = append_time
        self.attributes = 0 if append_time is None else APPEND_TIME

    def wrapper(self, records: list[Record], compression: Compression) -> bytes:
        """Return one message, at the last offset; those inside count from 0 in format 1."""
        if not records or compression is Compression.ZSTD:
            many = f"{len(records)} records"
            raise ValueError(f"format {self.magic} cannot wrap {many} in {compression.name}")
        base = records[0].offset if self.magic == 1 else 0
        inner = b"".join(self.message(record, record.offset - base) for record in records)
        value = compress(inner, compression, magic=self.magic)
        wrapper_record = Record(value=value, timestamp=latest(records))
        return self.message(wrapper_record, records[-1].offset, compression)

    def message(self, record: Record, offset: int, compression: int = 0) -> bytes:
        """Return one message, its length and CRC-32 in place."""
        if record.headers:
            raise ValueError(f"format {self.magic} has no record headers (KIP-82)")
        time = record.timestamp if self.append_time is None else self.append_time
        body = _sized(record.key) + _sized(record.value)
        layout = legacy.LAYOUTS[self.magic]
        size = layout.size + len(body) - PREFIX
        fields = [offset, size, 0, self.magic, self.attributes | compression]
        message = layout.pack(*fields, *([time] if self.magic == 1 else [])) + body
        crc = crc32(memoryview(message)[legacy.CHECKED :]).to_bytes(4, "big")
        return message[:PREFIX] + crc + message[legacy.CHECKED :]


def _sized(data: bytes | None) -> bytes:
    if data is None:
        return b"\xff\xff\xff\xff"
    return len(data).to_bytes(4, "big") + data
