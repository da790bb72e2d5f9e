"""A change of the voter set that is on its way: there is one at a time (KIP-853)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass

from kwire.controller.raft.effects import Reply
from kwire.controller.raft.endpoints import Endpoints
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.error_codes import ErrorCode
from kwire.messages.a80_add_raft_voter import AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterResponse


@dataclass(slots=True, kw_only=True)
class VoterChange(ABC):
    """deadline: when it is given up. offset: of its VotersRecord, None until that is appended."""

    token: Hashable
    deadline: int
    offset: int | None = None
    is_answered: bool = False

    def answer(self, error: int, message: str | None = None) -> list[Reply]:
        """The reply to whoever asked, the first time only."""
        if self.is_answered:
            return []
        self.is_answered = True
        return [self._reply(error, message)]

    def time_out(self) -> list[Reply]:
        """Return the reply that it took too long, which says what is in the log of it."""
        if self.offset is None:
            text = f"{self._awaited()} in time: nothing was appended, and the voters are as before."
        else:
            text = (
                f"The new voters are in the log at offset {self.offset}, but were not committed in"
                " time: they still may be. Describe the quorum before asking again."
            )
        return self.answer(ErrorCode.REQUEST_TIMED_OUT, text)

    @abstractmethod
    def _awaited(self) -> str:
        """The voters that have not answered, before anything is appended."""

    @abstractmethod
    def _reply(self, error: int, message: str | None) -> Reply:
        """The response of the API that asked."""


@dataclass(slots=True, kw_only=True)
class VoterAddition(VoterChange):
    """AddRaftVoter: waits for the new voter's ApiVersions, then for the commit."""

    voter: ReplicaKey
    endpoints: Endpoints
    ack_when_committed: bool = True

    def _awaited(self) -> str:
        return f"Voter {self.voter} did not answer ApiVersions"

    def _reply(self, error: int, message: str | None) -> Reply:
        return Reply(token=self.token, response=added(error, message))


@dataclass(slots=True, kw_only=True)
class VoterRemoval(VoterChange):
    """RemoveRaftVoter: waits for the commit."""

    def _awaited(self) -> str:
        return "No voter answered"

    def _reply(self, error: int, message: str | None) -> Reply:
        return Reply(token=self.token, response=removed(error, message))


def added(error: int, message: str | None = None) -> AddRaftVoterResponse:
    """An answer to AddRaftVoter."""
    return AddRaftVoterResponse(error_code=error, error_message=_text(error, message))


def removed(error: int, message: str | None = None) -> RemoveRaftVoterResponse:
    """An answer to RemoveRaftVoter."""
    return RemoveRaftVoterResponse(error_code=error, error_message=_text(error, message))


def _text(error: int, message: str | None) -> str | None:
    return None if error == ErrorCode.NONE else message or _GENERAL.get(error)


_GENERAL: dict[int, str] = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER: "This replica does not lead the quorum; ask its leader.",
}
