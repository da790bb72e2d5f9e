"""Errors after which a replica cannot go on."""

from __future__ import annotations

from kwire.errors import WireError


class CommittedDataLost(WireError):
    """A leader wants committed records undone: one of the quorum has lost its disk. Stop the node,
    and find out which one before any is started again."""


class IllegalTransition(RuntimeError):
    """The code asks for a change of role that the table of transitions does not have.

    A fault of kwire, never of a peer (Java: IllegalStateException of QuorumState).
    """
