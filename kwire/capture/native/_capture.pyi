"""The C extension. kwire.proxy.capture.flow_batches says what a FlowEncoder is given."""

from collections import deque
from collections.abc import Callable
from typing import Any, final

from _typeshed import ReadableBuffer, WriteableBuffer

from kwire.capture.record import CaptureRecord

SOURCES: str
"""The state of the C files it was built from, as hatch_build.py names it."""

SUMS_FAST: int
"""1 if the processor has an instruction for CRC-32C that this extension uses, else 0."""

@final
class FlowEncoder:
    def __new__(
        cls,
        flow: type[Any],
        prefixes: Callable[[Any], tuple[bytes, bytes]],
        is_plain: Callable[[Any], bool],
        plain_keys: bytes,
        endings: tuple[tuple[object, bytes], ...],
        rest: bytes,
        limits: tuple[int, int, int, int],
        /,
    ) -> FlowEncoder: ...
    def encode(
        self, queue: deque[Any], number: int, /
    ) -> tuple[
        bytes, int, tuple[bytes | tuple[bytes, bytes, bytes], ...] | None, int, int, Any
    ]: ...

@final
class Decoder:
    def __new__(
        cls, made: type[CaptureRecord], parts: tuple[tuple[str, str, Any], ...], /
    ) -> Decoder: ...
    @property
    def fallbacks(self) -> int: ...
    def decode(self, data: bytes, start: int, /) -> tuple[CaptureRecord, int] | None: ...

def copy_summed(to: WriteableBuffer, data: ReadableBuffer, crc: int, /) -> int: ...
def keep_freed(size: int, /) -> None: ...
