"""What can be wrong with a record that reads well."""

from __future__ import annotations

from kwire.errors import WireError


class ReplayError(WireError):
    """A metadata record does not fit the records before it, as a change to an unknown partition.

    Kafka's nodes stop at such a record; the image is left as it was.
    """
