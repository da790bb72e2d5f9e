"""The operation AddRaftVoter: make a controller that follows the quorum a voter (KIP-853)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast
from uuid import UUID

from kwire.admin.describe_quorum import RaftVoterEndpoint
from kwire.admin.errors import raise_for_code
from kwire.admin.voter_change import VoterChangeOperation, directory_id_of
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from kwire.net.connection import Connection

_SERVER_SHARE = 0.9
"""Of the time left: so that the leader's own "timed out", with its reason, comes before ours."""


class AddRaftVoterOperation(VoterChangeOperation):
    """`AdminClient.add_raft_voter`."""

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

        voter_directory_id: a UUID, or any text that `parse_uuid` reads.
        endpoints: its controller listeners, that of the quorum's own listener name among them.
        cluster_id: refused by the leader if it is not its own; by default the one that was found.

        1. Ask the active controller; follow NOT_LEADER_OR_FOLLOWER (6) to the next.
        2. It asks the new voter for its versions, waits until it has caught up, and answers when
           the new voter set is committed.
        3. If the answer is lost, ask again: DUPLICATE_VOTER with this directory id among the
           voters then means that the first request was carried out.

        Raises DuplicateVoter (126), whatever the directory id of the voter that has this id;
        InconsistentClusterId (104); BrokerError REQUEST_TIMED_OUT (7), whose message tells whether
        another change is pending (try again), the new voter does not answer at its endpoint or lags
        behind, or time ran out; INVALID_REQUEST (42) for unusable ids or endpoints;
        UNSUPPORTED_VERSION (35) while kraft.version is 0.
        """
        directory_id = directory_id_of(voter_directory_id)
        request = AddRaftVoterRequest(
            cluster_id=cluster_id,
            voter_id=voter_id,
            voter_directory_id=directory_id,
            listeners=[Listener(name=e.name, host=e.host, port=e.port) for e in endpoints],
        )
        await self._change_voters(
            request, _send, (voter_id, directory_id), votes_afterwards=True, timeout=timeout
        )


async def _send(request: AddRaftVoterRequest, connection: Connection, timeout: float) -> None:
    request = request.replace(timeout_ms=max(1, int(timeout * 1000 * _SERVER_SHARE)))
    response = cast(AddRaftVoterResponse, await connection.send(request, timeout=timeout))
    raise_for_code(response.error_code, response.error_message)
