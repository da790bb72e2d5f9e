"""The steps that AddRaftVoter and RemoveRaftVoter share: choose the node, handle a lost answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar
from uuid import UUID

from kwire.admin.describe_quorum import fetch_quorum
from kwire.admin.errors import DuplicateVoter, VoterNotFound
from kwire.admin.routing import Operation
from kwire.errors import AnswerLost
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.net.connection import Connection
from kwire.text.ids import parse_uuid

Request = TypeVar("Request", AddRaftVoterRequest, RemoveRaftVoterRequest)


class VoterChangeOperation(Operation):
    """An operation that changes the voter set."""

    async def _change_voters(
        self,
        request: Request,
        send: Callable[[Request, Connection, float], Awaitable[None]],
        voter: tuple[int, UUID],
        *,
        votes_afterwards: bool,
        timeout: float | None,
    ) -> None:
        """Send a change until it is answered; the steps are those of both operations' docstrings.

        voter: id and directory id. votes_afterwards: True for an addition.
        """
        deadline = self._router.deadline(timeout)
        if request.cluster_id is None:
            cluster = await self._router.cluster(deadline)
            request = request.replace(cluster_id=cluster.cluster_id)
        answer_lost = False
        while True:
            try:
                # 1. and 2.
                await self._router.call(
                    partial(send, request), timeout=deadline.remaining, repeatable=False
                )
            except AnswerLost as error:
                # 3. The leader may or may not have committed the change: only asking again tells.
                answer_lost = True
                if not await deadline.pause():
                    raise self._router.explained(error) from error
            except (DuplicateVoter, VoterNotFound):
                if answer_lost and votes_afterwards == await self._is_voter(voter):
                    return
                raise
            else:
                return

    async def _is_voter(self, voter: tuple[int, UUID]) -> bool:
        quorum = await self._router.call(fetch_quorum)
        return voter in {
            (replica.replica_id, replica.replica_directory_id) for replica in quorum.voters
        }


def directory_id_of(directory_id: UUID | str) -> UUID:
    """Return a directory id, parsed if it is text. Raises InvalidValue."""
    return parse_uuid(directory_id) if isinstance(directory_id, str) else directory_id
