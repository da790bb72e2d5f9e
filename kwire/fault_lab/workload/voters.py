"""Voters: a spare controller is made a voter and removed again (KIP-853)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from uuid import UUID

from kwire.error_codes import ErrorCode
from kwire.errors import ConnectionFailed
from kwire.fault_lab.history import Fate
from kwire.fault_lab.session import WorkloadClient, judged
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse, Listener
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.net.quorum_request import quorum_request

TIMEOUT_MS = 5000
WITHIN = 8.0
PAUSE = 2.0, 8.0
"""Seconds between two changes."""

_REFUSALS = frozenset({ErrorCode.DUPLICATE_VOTER, ErrorCode.VOTER_NOT_FOUND})


async def work_on_voters(
    client: WorkloadClient, spare: int, is_voter: Callable[[], bool | None]
) -> None:
    """Add and remove the spare controller until the run stops.

    is_voter: tells whether the committed log has it among the voters.
    """
    directory: UUID | None = None
    while not client.run.stopping:
        await asyncio.sleep(client.random.uniform(*PAUSE))
        client.choose()
        # Mostly the change that should work; sometimes the one that must be refused.
        add = (not is_voter()) ^ (client.random.random() < 0.15)
        try:
            directory = directory or await directory_of(client, spare)
        except (ConnectionFailed, LookupError):
            client.move()
            continue
        kind, change = ("add", add_voter) if add else ("remove", remove_voter)
        await client.record(f"voter:{spare}", kind, partial(change, client, spare, directory))


async def directory_of(client: WorkloadClient, spare: int) -> UUID:
    """Return the directory id of a controller that follows the quorum.

    Raises LookupError if the node that is asked does not know it, KwireError.
    """
    answer = await client.ask(DescribeQuorumResponse, quorum_request())
    for topic in answer.topics:
        for partition in topic.partitions:
            for replica in (*partition.observers, *partition.current_voters):
                if replica.replica_id == spare and replica.replica_directory_id.int:
                    return replica.replica_directory_id
    raise LookupError(spare)


async def add_voter(client: WorkloadClient, spare: int, directory: UUID) -> tuple[Fate, object]:
    """Make the spare controller a voter, at its address in the faulty network."""
    address = client.run.topology.advertised(spare, controller=True)
    listener = Listener(name=LISTENER, host=address.host, port=address.port)
    request = AddRaftVoterRequest(
        cluster_id=None,
        timeout_ms=TIMEOUT_MS,
        voter_id=spare,
        voter_directory_id=directory,
        listeners=[listener],
    )
    answer = await client.ask(AddRaftVoterResponse, request, within=WITHIN)
    return judged(answer.error_code, answer.error_message, _REFUSALS)


async def remove_voter(client: WorkloadClient, spare: int, directory: UUID) -> tuple[Fate, object]:
    """Take the spare controller out of the voters."""
    request = RemoveRaftVoterRequest(cluster_id=None, voter_id=spare, voter_directory_id=directory)
    answer = await client.ask(RemoveRaftVoterResponse, request, within=WITHIN)
    return judged(answer.error_code, answer.error_message, _REFUSALS)


LISTENER = "CONTROLLER"
"""The controllers' listener name, as in Kafka's examples of controller.listener.names."""
