"""The choice between three engines that read and write the same bytes.

`native` is the C extension, there where it was built; `compiled` is Python made from the construct
tree; `reference` is construct itself. They agree on everything, errors included: where a fast one
fails it hands the same bytes or object to the reference, which succeeds or raises the error.

The native engine plugs in as `kwire.codec.native.engine(reference) -> Engine | None`: None where it
cannot take this message, an ImportError of `kwire.codec.native` where it was not built.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

from kwire.codec import limits
from kwire.codec.reference import Reference
from kwire.errors import InvalidValue, LocalError

NAMES = ("native", "compiled", "reference")
"""Fastest first: the order in which they are taken."""

VARIABLE = "KWIRE_ENGINE"
"""Environment variable that forces an engine by name."""


class Engine(Protocol):
    """Reads and writes one version of one message."""

    @property
    def decode(self) -> Decoder:
        """Reads an object."""

    @property
    def encode(self) -> Encoder:
        """Writes an object."""


class Decoder(Protocol):
    """The object at `offset`, 0 or more, and the offset behind it; else DecodeError."""

    def __call__(self, data: Any, offset: int = 0, /) -> tuple[Any, int]: ...


class Encoder(Protocol):
    """The bytes of an object; EncodeError when a value does not fit."""

    def __call__(self, obj: Any, /) -> bytes: ...


_caches: list[dict[int, Engine]] = []
_forced: str | None = None


def cache() -> dict[int, Engine]:
    """Where a message class keeps its engines, by version, until another engine is chosen."""
    made: dict[int, Engine] = {}
    _caches.append(made)
    return made


def use(name: str | None) -> None:
    """Force an engine for all messages, or give the choice back with None.

    Functions that `decoder` and `encoder` gave out before keep the engine they came from.
    """
    global _forced
    if name is not None and name not in NAMES:
        raise LocalError(f"no engine is called {name!r}: choose one of {', '.join(NAMES)}")
    if name == "native" and _native() is None:
        raise LocalError("the native engine is not built: reinstall kwire with a C compiler")
    _forced = name
    for made in _caches:
        made.clear()


def limit_tags(count: int) -> None:
    """Refuse structs with more than `count` tagged fields when reading; 1,000 until called.

    Raises InvalidValue for a negative count.
    """
    if count < 0:
        raise InvalidValue(f"a limit of {count} tagged fields would refuse every struct")
    limits.TAG_LIMIT = count
    use(_forced)


def available() -> tuple[str, ...]:
    """The engines of this installation, fastest first."""
    return NAMES if _native() else NAMES[1:]


def make(reference: Reference) -> Engine:
    """The fastest engine for what `reference` reads, or the forced one."""
    for name in NAMES if _forced is None else (_forced, "reference"):
        engine = _make(name, reference)
        if engine is not None:
            return engine
    return reference


def _make(name: str, reference: Reference) -> Engine | None:
    if name == "compiled":
        from kwire.codec.compiler import Compiled

        return Compiled(reference)
    if name == "native":
        native = _native()
        return native(reference) if native else None
    return reference


def _native() -> Callable[[Reference], Engine | None] | None:
    try:
        from kwire.codec.native import engine
    except ImportError:
        return None
    return engine


if VARIABLE in os.environ:
    use(os.environ[VARIABLE] or None)
