"""The C extension; `tables.py` says what parts are."""

from collections.abc import Callable
from typing import Any, final

from kwire.codec.native.parts import Part

SOURCES: str
"""The state of the C files it was built from, as hatch_build.py names it."""

@final
class Program:
    def __new__(
        cls,
        parts: tuple[Part, ...],
        decode: Callable[[Any, int], tuple[Any, int]],
        encode: Callable[[Any], bytes],
        string_limit: int,
        tag_limit: int,
        /,
    ) -> Program: ...
    @property
    def fallbacks(self) -> int: ...
    def decode(self, data: Any, offset: int = 0, /) -> tuple[Any, int]: ...
    def encode(self, obj: Any, /) -> bytes: ...
