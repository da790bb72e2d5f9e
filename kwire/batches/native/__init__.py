"""The native engine for records of format 2: C that reads and writes those of a batch at once.

Importing it fails with ImportError where the extension was not built; `kwire.batches.records` then
reads and writes them one by one.
"""

from __future__ import annotations

from kwire.batches.native._records import Engine
from kwire.batches.record import Record, RecordHeader

__all__ = ["ENGINE", "Engine"]

try:
    ENGINE = Engine(Record, RecordHeader)
    """It answers None to what it cannot do, which the reference then does or explains."""
except ValueError as error:  # of another msgspec, whose classes are laid out in another way
    raise ImportError(str(error)) from error
