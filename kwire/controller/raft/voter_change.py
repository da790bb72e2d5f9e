"""A change of the voter set in progress: there is one at a time (KIP-853 "Voter changes")."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from kwire.controller.raft.effects import RaftEffect, Reply
from kwire.controller.raft.endpoints import Endpoints
from kwire.controller.raft.quorum_events import (
    QuorumEvent,
    VoterChangeCommitted,
    VoterChangeRefused,
)
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.error_codes import ErrorCode, name
from kwire.messages.a80_add_raft_voter import AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterResponse

IN_DOUBT = "This leader stopped leading; the new voters may still be committed, from its log"
"""The answer of a leader when a change is neither made nor given up."""


@dataclass(slots=True, kw_only=True)
class VoterChange(ABC):
    """A request that waits for its VotersRecord.

    request: its name. voter: who is added or removed. deadline: when it is given up.
    offset: of its VotersRecord, None until that is appended.
    """

    request: ClassVar[str]
    voter: ReplicaKey
    token: Hashable
    deadline: int
    offset: int | None = None
    is_answered: bool = False

    def answer(self, error: int, message: str | None = None) -> list[Reply]:
        """Return the reply to the request, the first time only."""
        if self.is_answered:
            return []
        self.is_answered = True
        return [self._reply(error, message)]

    def commit(self) -> list[RaftEffect]:
        """Return the effects of the commit of its VotersRecord."""
        offset = self.offset or 0
        event = VoterChangeCommitted(request=self.request, voter=self.voter, offset=offset)
        return [event, *self.answer(ErrorCode.NONE)]

    def refuse(self, error: int, message: str | None) -> list[RaftEffect]:
        """Return the reply that tells an error, and the event, also after an answer."""
        return [refusal(self.request, self.voter, error, message), *self.answer(error, message)]

    def time_out(self) -> list[RaftEffect]:
        """Return the reply that it took too long; it tells if the change is in the log."""
        if self.offset is None:
            reason = self._missing_answer()
            text = f"{reason} in time: nothing was appended, and the voters are as before."
        else:
            text = (
                f"The new voters are in the log at offset {self.offset}, but were not committed in"
                " time: they still may be. Describe the quorum before asking again."
            )
        return self.refuse(ErrorCode.REQUEST_TIMED_OUT, text)

    def resign(self) -> list[RaftEffect]:
        """Return the reply of a leader that stops leading; it tells if the change is in the log."""
        text = None if self.offset is None else f"{IN_DOUBT} at offset {self.offset}."
        return self.refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER, text)

    @abstractmethod
    def _missing_answer(self) -> str:
        """Return the answer that did not come, before anything is appended."""

    @abstractmethod
    def _reply(self, error: int, message: str | None) -> Reply:
        """Return the response of the API that asked."""


@dataclass(slots=True, kw_only=True)
class VoterAddition(VoterChange):
    """AddRaftVoter: it waits for the new voter's ApiVersions, then for the commit."""

    request: ClassVar[str] = "AddRaftVoter"
    endpoints: Endpoints
    ack_when_committed: bool = True

    def _missing_answer(self) -> str:
        return f"Voter {self.voter} did not answer ApiVersions"

    def _reply(self, error: int, message: str | None) -> Reply:
        return Reply(token=self.token, response=add_voter_response(error, message))


@dataclass(slots=True, kw_only=True)
class VoterRemoval(VoterChange):
    """RemoveRaftVoter: it waits for the commit."""

    request: ClassVar[str] = "RemoveRaftVoter"

    def _missing_answer(self) -> str:
        return "No voter answered"

    def _reply(self, error: int, message: str | None) -> Reply:
        return Reply(token=self.token, response=remove_voter_response(error, message))


def refusal(request: str, voter: ReplicaKey, error: int, message: str | None) -> QuorumEvent:
    """Return the event of a voter change that is not made."""
    reason = message or _GENERAL.get(error) or name(error)
    return VoterChangeRefused(request=request, voter=voter, error=name(error), reason=reason)


def add_voter_response(error: int, message: str | None = None) -> AddRaftVoterResponse:
    """Make the response to AddRaftVoter."""
    return AddRaftVoterResponse(error_code=error, error_message=_text(error, message))


def remove_voter_response(error: int, message: str | None = None) -> RemoveRaftVoterResponse:
    """Make the response to RemoveRaftVoter."""
    return RemoveRaftVoterResponse(error_code=error, error_message=_text(error, message))


def _text(error: int, message: str | None) -> str | None:
    return None if error == ErrorCode.NONE else message or _GENERAL.get(error)


_GENERAL: dict[int, str] = {
    ErrorCode.FENCED_LEADER_EPOCH: "The request is from an epoch that is over.",
    ErrorCode.UNKNOWN_LEADER_EPOCH: "The request is from an epoch that this replica is not in.",
    ErrorCode.NOT_LEADER_OR_FOLLOWER: "This replica does not lead the quorum; ask its leader.",
}
