"""The C extension for records of captures."""

from typing import Any, final

from kwire.capture.record import CaptureRecord

SOURCES: str
"""The state of the C files it was built from, as hatch_build.py names it."""

@final
class Decoder:
    @property
    def fallbacks(self) -> int: ...
    def decode(self, data: bytes, start: int, /) -> tuple[CaptureRecord, int] | None: ...

def decoder(cls: type[CaptureRecord], parts: tuple[tuple[str, str, Any], ...], /) -> Decoder: ...
