"""A record alone, as the value of a message: Avro's single-object encoding.

C3 01, the CRC-64 of the schema's canonical form, the record as it stands in a block (Avro
specification, "Single-object encoding").
"""

from __future__ import annotations

from functools import cache

from kwire.capture.avro import fingerprint
from kwire.capture.encoding import BadRecord, RecordDecoder
from kwire.capture.record import CaptureRecord
from kwire.capture.schema import VERSION, schema

MARK = b"\xc3\x01"
HEAD_SIZE = len(MARK) + 8


@cache  # the fingerprint takes milliseconds, and salvage asks at each damage
def message_head(version: int = VERSION) -> bytes:
    """Return the bytes before a record of a version."""
    return MARK + fingerprint(schema(version))


class MessageDecoder:
    """Decodes records of all versions that this kwire knows."""

    def __init__(self) -> None:
        self._decoders = {
            message_head(version): RecordDecoder(version) for version in range(1, VERSION + 1)
        }

    def decode(self, data: bytes) -> CaptureRecord:
        """Return the record in a message.

        Raises BadRecord, also for the schema of a newer kwire.
        """
        decoder = self._decoders.get(data[:HEAD_SIZE])
        if decoder is None:
            if data.startswith(MARK):
                raise BadRecord("a record of a schema that this kwire does not know", None)
            raise BadRecord("no record of a capture", None)
        record, end = decoder.decode(data, HEAD_SIZE)
        if end != len(data):
            raise BadRecord("bytes behind the record", None)
        return record
