"""The C extension. kwire.proxy.capture.flow_batches says what the arguments of `encoder` are."""

from collections import deque
from collections.abc import Callable
from typing import Any, final

from _typeshed import ReadableBuffer, WriteableBuffer

SOURCES: str
"""The state of the C files it was built from, as hatch_build.py names it."""

SUMS_FAST: int
"""1 if the processor has an instruction for CRC-32C that this extension uses, else 0."""

@final
class FlowEncoder:
    def encode(
        self, queue: deque[Any], number: int, /
    ) -> tuple[
        bytes, int, tuple[bytes | tuple[bytes, bytes, bytes], ...] | None, int, int, Any
    ]: ...

def encoder(
    flow: type[Any],
    prefixes: Callable[[Any], tuple[bytes, bytes]],
    is_plain: Callable[[Any], bool],
    plain_keys: bytes,
    endings: tuple[tuple[object, bytes], ...],
    rest: bytes,
    limits: tuple[int, int, int, int],
    /,
) -> FlowEncoder: ...
def copy_summed(to: WriteableBuffer, data: ReadableBuffer, crc: int, /) -> int: ...
def keep_freed(size: int, /) -> None: ...
