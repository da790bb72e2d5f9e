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
from typing import Any

from kwire.codec import engine
from kwire.codec.engine import Engine
from kwire.codec.reference import Reference
from kwire.errors import InvalidValue, LocalError

NAMES = ("native", "compiled", "reference")
"""Names of the engines, fastest first: the order in which they are tried."""

VARIABLE = "KWIRE_ENGINE"
"""Environment variable that forces an engine by name."""

_caches: list[dict[int, Any]] = []
_forced: str | None = None


def new_cache() -> dict[int, Any]:
    """Return a table for engines, or their functions, such as those of a message by version.

    It is emptied when another engine is chosen, so that its owner asks again.
    """
    cache: dict[int, Any] = {}
    _caches.append(cache)
    return cache


def use(name: str | None) -> None:
    """Force an engine for all messages; None returns to the fastest that can take a message.

    Functions that `decoder` and `encoder` returned before keep the engine they came from. Raises
    Raises LocalError for a name that is no engine's, and for `native` where it was not built.
    """
    global _forced
    if name is not None and name not in NAMES:
        raise LocalError(f"no engine is called {name!r}: choose one of {', '.join(NAMES)}")
    if name == "native" and _native() is None:
        raise LocalError("the native engine is not built: reinstall kwire with a C compiler")
    _forced = name
    for cache in _caches:
        cache.clear()


def limit_tags(count: int) -> None:
    """Refuse structs with more than `count` tagged fields when reading; 1,000 until called.

    Raises InvalidValue for a negative count.
    """
    if count < 0:
        raise InvalidValue(f"a limit of {count} tagged fields would refuse every struct")
    engine.TAG_LIMIT = count
    use(_forced)  # the native engine has the old limit in its programs: have them made again


def available() -> tuple[str, ...]:
    """Return the names of the engines of this installation, fastest first."""
    return NAMES if _native() else NAMES[1:]


def in_use() -> str:
    """Return the name of the engine that is tried first."""
    return _forced or available()[0]


def allows_native() -> bool:
    """Return False if another engine than the native one is forced."""
    return _forced is None or _forced == "native"


def fastest(reference: Reference) -> Engine:
    """Return the forced engine, or the fastest, for the message version of `reference`.

    `reference` itself is returned where the others cannot take the message.
    """
    for name in NAMES if _forced is None else (_forced, "reference"):
        candidate = _make(name, reference)
        if candidate is not None:
            return candidate
    return reference


# Each engine is imported where it is made: a program that runs natively never loads the compiler,
# and none of the two loads construct while generated code is read from disk (engine_cache).


def _make(name: str, reference: Reference) -> Engine | None:
    if name == "compiled":
        from kwire.codec.compiler import Compiled

        return Compiled(reference)
    if name == "native":
        make = _native()
        return make(reference) if make else None
    return reference


def _native() -> Callable[[Reference], Engine | None] | None:
    try:
        from kwire.codec import native
    except ImportError:
        return None
    return native.engine


if VARIABLE in os.environ:
    use(os.environ[VARIABLE] or None)
