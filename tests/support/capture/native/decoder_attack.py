"""Attacks on the native decoder of captured records by bytes that nobody wrote.

Each function asserts that it and the schema's reader agree: on the record, or that there is none.
Run plainly by test_attack.py, under sanitizers by tests/support/sanitize.py.
"""

from __future__ import annotations

from random import Random
from typing import Any

from kwire.capture import RecordEncoder
from kwire.capture.avro import BadAvro, reader
from kwire.capture.record import CaptureRecord
from kwire.capture.schema import CRC_SIZE, VERSION, schema
from tests.support.capture.capture_records import KINDS, record
from tests.support.native_extensions import needs_extension

with needs_extension():
    from kwire.capture.native.record_decoder import decoder_of as decoder_of

CLAIMS = (
    b"\xff" * 9 + b"\x01",
    b"\xff" * 9 + b"\x02",
    b"\xfe\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x0f",
    b"\x80" * 10 + b"\x00",
    b"\x80\x00",
    b"\x00",
    b"\x01",
    b"\x02",
    b"\x06",
    b"\x04\x02\xc3\x02\xff\x00",
    b"\x03\x04\x02a\x02b\x00",
)
"""Numbers that are huge, negative, too long or longer than need be, and arrays in blocks."""


class Both:
    """The two decoders of a version."""

    def __init__(self, version: int) -> None:
        self._read = reader(schema(version))
        self.native = decoder_of(version)

    def agree(self, data: bytes, start: int = 0) -> bool:
        """Compare both; return whether there is a record."""
        before = self.native.fallbacks
        found, wanted = self.native.decode(data, start), self._by_schema(data, start)
        assert self.native.fallbacks - before == (found is None)
        if found is not None and found[1] + CRC_SIZE > len(data):
            found = None  # its CRC, which is left unread, is cut
        assert found == wanted, data.hex()
        assert repr(found) == repr(wanted)
        return wanted is not None

    def _by_schema(self, data: bytes, start: int) -> tuple[CaptureRecord, int] | None:
        try:
            fields, end = self._read(data, start)
        except (BadAvro, IndexError):
            return None
        del fields["crc"]
        fields["at_us"] = fields.pop("at")
        texts: dict[str, Any] = {
            name: tuple(fields.get(name, ())) for name in ("problems", "notes", "deeds")
        }
        return CaptureRecord(**(fields | texts)), end - CRC_SIZE


def mutants(seed: int, times: int) -> tuple[int, int]:
    """Compare both on mutants; return how many both read and how many they refused."""
    random = Random(seed)
    encoder = RecordEncoder()
    good = [encoder.encode(kind) for kind in (*KINDS, record(text="\x80é😀" * 20))]
    both = [Both(version) for version in range(1, VERSION + 1)]
    counts = [0, 0]
    for _ in range(times):
        data = bytearray(random.choice(good))
        at = random.randrange(len(data))
        match random.randrange(5):
            case 0:
                data[at] ^= 1 << random.randrange(8)
            case 1:
                data[at : at + 1] = random.choice(CLAIMS)
            case 2:
                del data[at:]
            case 3:
                data[at:at] = random.randbytes(random.randrange(1, 4))
            case _:
                pass
        counts[random.choice(both).agree(bytes(data))] += 1
    return counts[1], counts[0]
