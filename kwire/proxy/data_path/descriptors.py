"""The open files that connections need, so that none is accepted that cannot be served.

A connection takes two: the client's socket, and that to the node, which is opened later. The system
gives the lowest free number, so that of a client's socket says how many are in use.
"""

from __future__ import annotations

from kwire.operating_system import open_files_limit

SPARE = 32
"""Descriptors that are left to recordings, saved files, look-ups of names, and clients that are
accepted to be refused."""

NO_DESCRIPTOR = "the limit of open files is reached: raise it (ulimit -n, in systemd LimitNOFILE)"


class Descriptors:
    """Counts the descriptors that clients have been promised, of all proxies of a process.

    limit: of the process, by default as the system says; None for none.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = open_files_limit() if limit is None else limit
        self._promised = 0

    def refusal(self, number: int) -> str:
        """Return why a client whose socket has this number cannot be served, "" if it can."""
        if self._limit is None or number + self._promised < self._limit - SPARE:
            return ""
        return f"all but {SPARE} of {self._limit} open files are needed: {NO_DESCRIPTOR}"

    def promise(self) -> None:
        """Leave one for a connection to a node."""
        self._promised += 1

    def keep(self) -> None:
        """Take note that such a connection is open, or that none is needed any more."""
        self._promised -= 1
