"""KIP-1242 and KIP-1312 of Kafka 4.4: kwire's controllers answer as Kafka's do."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from kwire.controller.server.quorum import Quorum
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kwire.net.connection import Connection
from real_kafka import Layout
from tests.support.controller.live.answer_differences import NOT_YET
from tests.support.real_kafka.own_cluster import OwnCluster

SOFTWARE = ApiVersionsRequest(client_software_name="test", client_software_version="1")
NOT_ADVERTISED = {int(key) for key in NOT_YET.split("|")}
UNKNOWN, GONE = 77, 3999


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of one controller.

    identities: error codes of ApiVersions v5, by what it names. unregistered: error code and
    message, or not, for an unknown controller, the active one, one that is gone, that one again.
    """

    identities: dict[str, int]
    unregistered: list[tuple[int, bool]]
    apis: dict[int, tuple[int, int]]
    features: dict[str, tuple[int, int]]
    finalized: dict[str, int]


async def answers(host: str, port: int, cluster_id: str, node_id: int) -> Answers:
    async with await Connection.open(host, port) as connection:
        identities = {
            "itself": (cluster_id, node_id),
            "another node": (cluster_id, UNKNOWN),
            "another cluster": ("another", node_id),
            "a cluster alone": (cluster_id, -1),
            "a node alone": (None, node_id),
        }
        codes = {}
        for name, (cluster, node) in identities.items():
            named = await connection.send(SOFTWARE.replace(cluster_id=cluster, node_id=node), 5)
            assert isinstance(named, ApiVersionsResponse)
            codes[name] = named.error_code
        gone = ControllerRegistrationRequest(controller_id=GONE, incarnation_id=UUID(int=GONE))
        registered = await connection.send(gone)
        assert isinstance(registered, ControllerRegistrationResponse)
        assert registered.error_code == ErrorCode.NONE
        ids = (UNKNOWN, node_id, GONE, GONE)
        unregistered = [await unregister(connection, id) for id in ids]
        offered = connection.node
    return Answers(
        identities=codes,
        unregistered=unregistered,
        apis={
            key: (versions.min_version, versions.max_version)
            for key, versions in offered.api_versions.items()
        },
        features={
            name: (levels.min_version, levels.max_version)
            for name, levels in offered.supported_features.items()
        },
        finalized={name: levels.max_version for name, levels in offered.finalized_features.items()},
    )


async def unregister(connection: Connection, controller_id: int) -> tuple[int, bool]:
    """The error code, and whether there is a message."""
    answer = await connection.send(UnregisterControllerRequest(controller_id=controller_id))
    assert isinstance(answer, UnregisterControllerResponse)
    return answer.error_code, bool(answer.error_message)


async def test_a_controller_of_4_4_and_kwires_answer_alike(own_cluster: OwnCluster) -> None:
    cluster = own_cluster(Layout(controllers=(3000,), version="4.4.0"))
    await asyncio.to_thread(cluster.start)
    at = cluster.controllers[3000].controller_address
    theirs = await answers(at.host, at.port, cluster.cluster_id, 3000)
    async with Quorum(1, release="4.4") as quorum:
        leader = await quorum.wait_for_leader()
        await leader.metadata.until(lambda: 3000 in leader.metadata.image.cluster.controllers)
        host, port = quorum.addresses[3000]
        ours = await answers(host, port, quorum.cluster_id, 3000)
    assert ours.identities == theirs.identities
    assert theirs.identities["another node"] == ErrorCode.NONE  # only brokers look at it
    assert ours.unregistered == theirs.unregistered
    unknown, itself = ErrorCode.CONTROLLER_ID_NOT_REGISTERED, ErrorCode.INVALID_REQUEST
    assert theirs.unregistered == [(unknown, True), (itself, True), (0, False), (unknown, True)]
    assert ours.apis == {
        key: versions for key, versions in theirs.apis.items() if key not in NOT_ADVERTISED
    }
    assert ours.features == theirs.features
    assert ours.finalized == theirs.finalized
