"""Changes of the voter set: AddRaftVoter, RemoveRaftVoter (KIP-853).

They do not go through `Driver.run`: their answer comes only when the new voter set is committed,
and a lost one is cleared up by asking again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar, cast
from uuid import UUID

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import DuplicateVoter, OutcomeUnknown, VoterNotFound, raise_for_code
from kwire.admin.node_exchange import SERVER_SHARE
from kwire.admin.quorum import RaftVoterEndpoint, describe_metadata_quorum
from kwire.error_codes import ErrorCode
from kwire.errors import AnswerLost, BrokerError, KwireError
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.net.connection import Connection
from kwire.text.ids import parse_uuid

VoterRequest = TypeVar("VoterRequest", AddRaftVoterRequest, RemoveRaftVoterRequest)


async def add_raft_voter(
    driver: Driver,
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
    3. If the answer is lost, or the leader stops leading, ask again: DUPLICATE_VOTER with this
       directory id among the voters then means that the first request was carried out.

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
    await _change_voters(
        driver,
        registry.ADD_RAFT_VOTER,
        request,
        _send_addition,
        (voter_id, directory_id),
        votes_afterwards=True,
        timeout=timeout,
    )


async def remove_raft_voter(
    driver: Driver,
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
    3. If the answer is lost, or the leader stops leading, ask again: VOTER_NOT_FOUND then means
       that the first request was carried out.

    Raises VoterNotFound (127) unless both ids are those of a voter; InconsistentClusterId
    (104); BrokerError REQUEST_TIMED_OUT (7) while another change is pending;
    UNSUPPORTED_VERSION (35) while kraft.version is 0.
    """
    directory_id = directory_id_of(voter_directory_id)
    request = RemoveRaftVoterRequest(
        cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=directory_id
    )
    await _change_voters(
        driver,
        registry.REMOVE_RAFT_VOTER,
        request,
        _send_removal,
        (voter_id, directory_id),
        votes_afterwards=False,
        timeout=timeout,
    )


async def _change_voters(
    driver: Driver,
    row: registry.OperationRow,
    request: VoterRequest,
    send: Callable[[VoterRequest, Connection, float], Awaitable[None]],
    voter: tuple[int, UUID],
    *,
    votes_afterwards: bool,
    timeout: float | None,
) -> None:
    """Send a change until it is answered; the steps are those of both operations' docstrings.

    voter: id and directory id. votes_afterwards: True for an addition.
    """
    driver.check_allowed(row)
    router = driver.router
    deadline = router.deadline(timeout)
    if request.cluster_id is None:
        cluster = await router.known_cluster(deadline)
        request = request.replace(cluster_id=cluster and cluster.cluster_id)
    answer_lost = False
    while True:
        try:
            # 1. and 2.
            await router.call(partial(send, request), timeout=deadline.remaining, repeatable=False)
        except AnswerLost as error:
            # 3. The leader may or may not have committed the change: only asking again tells.
            answer_lost = True
            if not await deadline.pause():
                raise router.explained(error) from error
        except (DuplicateVoter, VoterNotFound):
            if answer_lost and votes_afterwards == await _is_voter(driver, voter):
                return
            raise
        except BrokerError:
            raise  # of a leader, which says that it has not begun
        except KwireError as error:
            if answer_lost:
                raise OutcomeUnknown(f"{error}; the change may have been made") from error
            raise
        else:
            return


async def _is_voter(driver: Driver, voter: tuple[int, UUID]) -> bool:
    quorum = await describe_metadata_quorum(driver)
    return voter in {
        (replica.replica_id, replica.replica_directory_id) for replica in quorum.voters
    }


async def _send_addition(
    request: AddRaftVoterRequest, connection: Connection, timeout: float
) -> None:
    # The leader's own "timed out", with its reason, is to come before the client's.
    request = request.replace(timeout_ms=max(1, int(timeout * 1000 * SERVER_SHARE)))
    response = cast(AddRaftVoterResponse, await connection.send(request, timeout=timeout))
    _raise_for_answer(response)


async def _send_removal(
    request: RemoveRaftVoterRequest, connection: Connection, timeout: float
) -> None:
    response = cast(RemoveRaftVoterResponse, await connection.send(request, timeout=timeout))
    _raise_for_answer(response)


STOPPED_LEADING = "This leader stopped leading"
"""The begin of kwire's answer if the leader resigned with the change in its log."""


def _raise_for_answer(response: AddRaftVoterResponse | RemoveRaftVoterResponse) -> None:
    """Raise the error of an answer; AnswerLost if it leaves open what becomes of the change."""
    code, message = response.error_code, response.error_message or ""
    if code == ErrorCode.NOT_LEADER_OR_FOLLOWER and message.startswith(STOPPED_LEADING):
        raise AnswerLost(message)
    raise_for_code(code, response.error_message)


def directory_id_of(directory_id: UUID | str) -> UUID:
    """Return a directory id, parsed if it is text. Raises InvalidValue."""
    return parse_uuid(directory_id) if isinstance(directory_id, str) else directory_id
