"""Voters that leave the voter set and come back with the same directory, as a log tells them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kwire.quorum_story.log_entry import LogEntry

LATEST = "Latest set of voters is"
SOON = 120_000
"""Milliseconds in which a voter comes back that joins by itself: it tries every few seconds."""

READ_AGAIN = 200
"""Milliseconds between changes that a node reads of its log, and sees long after they happened."""

_KEY = re.compile(r"VoterNode\(voterKey=ReplicaKey\(id=(\d+), directoryId=([\w-]+)\)")


class VoterChanges:
    """Remembers the voters that left, and each voter set with its offset."""

    def __init__(self) -> None:
        self._sets: set[str] = set()
        self._voters: set[tuple[str, str]] = set()
        self._left: dict[tuple[str, str], int] = {}

    def is_repeated(self, entry: LogEntry) -> bool:
        """Return True for a voter set that came before, at the same offset.

        A node that starts reads its log again and names each set in it
        (KRaftControlRecordStateMachine). A line that was cut before the offset is none.
        """
        voter_set = entry.text.partition(LATEST)[2]
        if " at offset " not in voter_set:
            return False
        if voter_set in self._sets:
            return True
        self._sets.add(voter_set)
        return False

    def back(self, entry: LogEntry) -> Iterator[Mapping[str, str]]:
        """Yield voter and seconds for each that is back soon after it left."""
        if LATEST not in entry.text or entry.time is None:
            return
        voters = set(_KEY.findall(entry.text))
        for key in voters - self._voters:
            left = self._left.pop(key, None)
            if left is not None and READ_AGAIN <= entry.time - left <= SOON:
                seconds = max(1, round((entry.time - left) / 1000))
                yield {"voter": key[0], "seconds": str(seconds)}
        self._left.update(dict.fromkeys(self._voters - voters, entry.time))
        self._voters = voters
