"""What a replica cannot go on after."""

from __future__ import annotations

from kwire.errors import WireError


class CommittedDataLost(WireError):
    """A leader wants committed records undone: one of the quorum has lost its disk. Stop the node,
    and find out which one before any is started again."""
