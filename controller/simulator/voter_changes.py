"""One voter at a time (KIP-853): what keeps two majorities from existing side by side."""

from __future__ import annotations

from dataclasses import dataclass

from controller.raft import ReplicaKey, VoterSet
from controller.simulator.machine import Machine
from controller.simulator.violation import Violation


@dataclass(slots=True)
class _Reign:
    """A leader's voters as they were after its last step, and what it had committed then.

    written: behind its last VotersRecord of this epoch.
    """

    epoch: int
    voters: VoterSet
    high_watermark: int | None
    written: int = 0


class SingleVoterChange:
    """A leader adds or removes one voter at most, and only when it has committed something in its
    epoch and the VotersRecord before is committed."""

    def __init__(self) -> None:
        self._reigns: dict[int, _Reign] = {}

    def check(self, machine: Machine) -> None:
        """Look at what a leader appended."""
        raft = machine.running
        if raft.role != "leader":
            self._reigns.pop(machine.id, None)
            return
        reign, voters = self._reigns.get(machine.id), raft.voters
        if reign is None or reign.epoch != raft.epoch:
            self._reigns[machine.id] = _Reign(raft.epoch, voters, raft.high_watermark)
            return
        if voters is not reign.voters:
            self._check_change(machine, reign, frozenset(voters.keys))
            reign.written = raft.end_offset
        reign.voters, reign.high_watermark = voters, raft.high_watermark

    def _check_change(self, machine: Machine, reign: _Reign, keys: frozenset[ReplicaKey]) -> None:
        before = frozenset(reign.voters.keys)
        if any(key.directory_id is None for key in before):
            return  # the upgrade to kraft.version 1 tells the directories of all
        difference = keys ^ before
        if not difference:
            return  # a voter's endpoints or versions
        changed = ", ".join(sorted(str(key) for key in difference))
        if len(difference) > 1:
            text = f"{machine.name} changes {changed} at once"
            raise Violation("SingleVoterChange", text)
        if reign.high_watermark is None or reign.high_watermark < reign.written:
            text = f"{machine.name} changes {changed} while {reign.written} is not committed"
            raise Violation("SingleVoterChange", text)
