"""Errors of records that can be read and do not fit the image."""

from __future__ import annotations

from kwire.errors import WireError


class ReplayError(WireError):
    """A metadata record does not fit the records before it, as a change to an unknown partition.

    Kafka's nodes stop at such a record; the image is left as it was.
    """
