"""The C extension for records of format 2."""

from typing import final

from kwire.batches.record import Record, RecordHeader

SOURCES: str
"""The state of the C files it was built from, as hatch_build.py names it."""

@final
class Engine:
    def __new__(cls, record: type[Record], header: type[RecordHeader], /) -> Engine: ...
    @property
    def fallbacks(self) -> int: ...
    def read(
        self,
        data: bytes,
        position: int,
        count: int,
        base_offset: int,
        base_timestamp: int,
        base_sequence: int,
        append_time: int | None,
        /,
    ) -> tuple[list[Record], int] | None: ...
    def write(
        self, records: list[Record], base_offset: int, base_timestamp: int | None, /
    ) -> tuple[bytes, int, int, int] | None: ...
