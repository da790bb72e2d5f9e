"""Changes of the voter set in tests: clients, voters as sets, leaders that lose an answer."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from kwire.admin import AdminClient, QuorumInfo, RaftVoterEndpoint
from kwire.codec.declaration import Response
from kwire.errors import BrokerError
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterResponse
from kwire.net.frames import RequestFrame
from kwire.text.ids import ZERO_UUID, parse_uuid, uuid_text
from real_kafka import Address, Cluster
from scripted_node import HANG_UP, Raw, Script
from scripted_quorum import ScriptedQuorum

Voter = tuple[int, str]

PATIENCE = 60.0

STRANGER = parse_uuid("AAAAAAAAQACAAAAAAAAwBQ")
"""A directory id that no node has."""

OURS = (3, UUID(int=3))
"""Node id and directory id of the voter that scripted quorums add or remove."""

BOOTSTRAPS = pytest.mark.parametrize("bootstrap", ["bootstrap_controllers", "bootstrap_servers"])


def client(cluster: Cluster, bootstrap: str = "bootstrap_controllers") -> AdminClient:
    return AdminClient(**{bootstrap: getattr(cluster, bootstrap)}, timeout=PATIENCE)


def endpoint(address: Address, name: str = "CONTROLLER") -> RaftVoterEndpoint:
    return RaftVoterEndpoint(name=name, host=address.host, port=address.port)


def nowhere() -> RaftVoterEndpoint:
    return endpoint(Address("127.0.0.1", 1))


def java_voters(cluster: Cluster) -> set[Voter]:
    """The voter set that Kafka's own tool prints."""
    told = cluster.tool(
        "org.apache.kafka.tools.MetadataQuorumCommand",
        "--bootstrap-controller",
        cluster.bootstrap_controllers,
        "describe",
        "--status",
    )
    found = re.search(r"CurrentVoters:\s+(.*)", told.stdout)
    assert found, told.stderr
    return {(load["id"], load["directoryId"]) for load in json.loads(found[1])}


def voters(quorum: QuorumInfo) -> set[Voter]:
    return {
        (voter.replica_id, uuid_text(voter.replica_directory_id or ZERO_UUID))
        for voter in quorum.voters
    }


async def accepted(change: Callable[[], Awaitable[None]]) -> None:
    """Make a change as soon as it is its turn.

    Voters that have just started tell the leader their endpoints (UpdateRaftVoter); while such a
    change is pending, another is answered with REQUEST_TIMED_OUT.
    """
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await change()
            except BrokerError as error:
                if error.name != "REQUEST_TIMED_OUT":
                    raise
                await asyncio.sleep(0.2)


async def refused(
    operation: Callable[..., Awaitable[None]], *arguments: object, **options: object
) -> BrokerError:
    """The refusal, which changes nothing, when it is this change's turn."""
    while True:
        with pytest.raises(BrokerError) as caught:
            await operation(*arguments, **options)
        if "Request timed out waiting" not in str(caught.value):
            return caught.value
        await asyncio.sleep(0.2)


def losing(then: int, worked: bool, quorum: ScriptedQuorum) -> Script:
    """A leader that hangs up at the first request, after it `worked`, and later answers a code."""
    asked: list[RequestFrame] = []

    def script(request: RequestFrame) -> Response | Raw:
        asked.append(request)
        if len(asked) == 1:
            if worked:
                quorum.voters ^= {OURS}
            return HANG_UP
        added = isinstance(request.body, AddRaftVoterRequest)
        answer = AddRaftVoterResponse if added else RemoveRaftVoterResponse
        return answer(error_code=then, error_message="as it is")

    return script
