"""The operation RemoveRaftVoter: take a controller out of the voters (KIP-853)."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from kwire.admin.errors import raise_for_code
from kwire.admin.voter_change import VoterChangeOperation, directory_id_of
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.net.connection import Connection


class RemoveRaftVoterOperation(VoterChangeOperation):
    """`AdminClient.remove_raft_voter`."""

    async def remove_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID | str,
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Take a voter out of the voter set; its process goes on as an observer.

        voter_directory_id: a UUID, or any text that `parse_uuid` reads.
        cluster_id: refused by the leader if it is not its own; by default the one that was found.

        1. Ask the active controller; follow NOT_LEADER_OR_FOLLOWER (6) to the next.
        2. It answers when the smaller voter set is committed; removing itself, it then resigns.
        3. If the answer is lost, ask again: VOTER_NOT_FOUND then means that the first request was
           carried out.

        Raises VoterNotFound (127) unless both ids are those of a voter; InconsistentClusterId
        (104); BrokerError REQUEST_TIMED_OUT (7) while another change is pending;
        UNSUPPORTED_VERSION (35) while kraft.version is 0.
        """
        directory_id = directory_id_of(voter_directory_id)
        request = RemoveRaftVoterRequest(
            cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=directory_id
        )
        await self._change_voters(
            request, _send, (voter_id, directory_id), votes_afterwards=False, timeout=timeout
        )


async def _send(request: RemoveRaftVoterRequest, connection: Connection, timeout: float) -> None:
    response = cast(RemoveRaftVoterResponse, await connection.send(request, timeout=timeout))
    raise_for_code(response.error_code, response.error_message)
