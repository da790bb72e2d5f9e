"""The disk is full: one sentence for what three libraries each say in their own way."""

from __future__ import annotations

import errno

from kwire.errors import LocalError

_NUMBERS = frozenset({errno.ENOSPC, errno.EDQUOT})
_TEXTS = ("No space left on device", "Disk quota exceeded")


class StorageFull(LocalError):
    """There is no space for what is to be written; the message says where."""


def is_full(error: BaseException | None) -> bool:
    """Return True if an error, or what caused it, is that there is no space left.

    Tasks of Spark and delta-rs hand over the text of an error alone.
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NUMBERS:
            return True
        if any(text in str(error) for text in _TEXTS):
            return True
        error = error.__cause__
    return False
