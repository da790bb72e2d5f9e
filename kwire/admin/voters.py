"""Changing the voter set: AddRaftVoter and RemoveRaftVoter (KIP-853)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast
from uuid import UUID

from kwire.admin.errors import DuplicateVoter, VoterNotFound, raise_for_code
from kwire.admin.operations import Operations
from kwire.admin.quorum import RaftVoterEndpoint, ask_quorum
from kwire.admin.routing import Attempt
from kwire.errors import AnswerLost
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.net.connection import Connection
from kwire.text.ids import parse_uuid

_SERVER_SHARE = 0.9
"""Of the time left: so that the leader's own "timed out", with its reason, comes before ours."""


class VoterOperations(Operations):
    """Operations on the voter set. A directory id is a UUID or any text `parse_uuid` reads."""

    async def add_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        endpoints: Iterable[RaftVoterEndpoint],
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Make an observer, a controller that follows the quorum, a voter.

        endpoints: its controller listeners, that of the quorum's own listener name among them.
        cluster_id: refused by the leader if it is not its own; by default the one that was found.

        1. Ask the active controller; follow NOT_LEADER_OR_FOLLOWER (6) to the next.
        2. It asks the new voter for its versions, waits until it has caught up, and answers when
           the new voter set is committed.
        3. Where the answer is lost, ask again: DUPLICATE_VOTER with this directory id among the
           voters then means that it had worked.

        Raises DuplicateVoter (126), whatever the directory id of the voter that has this id;
        InconsistentClusterId (104); BrokerError REQUEST_TIMED_OUT (7), whose message tells whether
        another change is pending (try again), the new voter does not answer at its endpoint or lags
        behind, or time ran out; INVALID_REQUEST (42) for unusable ids or endpoints;
        UNSUPPORTED_VERSION (35) while kraft.version is 0.
        """
        directory_id = _directory_id(voter_directory_id)
        request = AddRaftVoterRequest(
            cluster_id=cluster_id,
            voter_id=voter_id,
            voter_directory_id=directory_id,
            listeners=[Listener(name=e.name, host=e.host, port=e.port) for e in endpoints],
        )
        await self._change(request, voter_id, directory_id, timeout)

    async def remove_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Take a voter out of the voter set; its process goes on as an observer.

        cluster_id: refused by the leader if it is not its own; by default the one that was found.

        1. Ask the active controller; follow NOT_LEADER_OR_FOLLOWER (6) to the next.
        2. It answers when the smaller voter set is committed; removing itself, it then resigns.
        3. Where the answer is lost, ask again: VOTER_NOT_FOUND then means that it had worked.

        Raises VoterNotFound (127) unless both ids are those of a voter; InconsistentClusterId
        (104); BrokerError REQUEST_TIMED_OUT (7) while another change is pending;
        UNSUPPORTED_VERSION (35) while kraft.version is 0.
        """
        directory_id = _directory_id(voter_directory_id)
        request = RemoveRaftVoterRequest(
            cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=directory_id
        )
        await self._change(request, voter_id, directory_id, timeout)

    async def _change(
        self,
        request: AddRaftVoterRequest | RemoveRaftVoterRequest,
        voter_id: int,
        directory_id: UUID,
        timeout: float | None,
    ) -> None:
        deadline = self._router.deadline(timeout)
        if request.cluster_id is None:
            cluster = await self._router.cluster(deadline)
            request = request.replace(cluster_id=cluster.cluster_id)
        lost = False
        while True:
            try:
                await self._router.call(
                    _sending(request), timeout=deadline.remaining, repeatable=False
                )
            except AnswerLost as error:
                lost = True
                if not await deadline.pause():
                    raise self._router.explained(error) from error
            except (DuplicateVoter, VoterNotFound):
                wanted = isinstance(request, AddRaftVoterRequest)
                if lost and wanted == await self._is_voter(voter_id, directory_id):
                    return
                raise
            else:
                return

    async def _is_voter(self, voter_id: int, directory_id: UUID) -> bool:
        quorum = await self._router.call(ask_quorum)
        return (voter_id, directory_id) in {
            (one.replica_id, one.replica_directory_id) for one in quorum.voters
        }


def _directory_id(given: UUID | str) -> UUID:
    return parse_uuid(given) if isinstance(given, str) else given


def _sending(request: AddRaftVoterRequest | RemoveRaftVoterRequest) -> Attempt[None]:
    async def attempt(connection: Connection, timeout: float) -> None:
        sent = request
        if isinstance(sent, AddRaftVoterRequest):
            sent = sent.replace(timeout_ms=max(1, int(timeout * 1000 * _SERVER_SHARE)))
        answer = await connection.send(sent, timeout=timeout)
        response = cast(AddRaftVoterResponse | RemoveRaftVoterResponse, answer)
        raise_for_code(response.error_code, response.error_message)

    return attempt
