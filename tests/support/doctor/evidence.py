"""Evidence made by hand: a healthy quorum of three, and the parts of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from rpds import HashTrieMap

from kwire.admin.cluster_description import ClusterDescription, ClusterNode
from kwire.admin.controller_state import FollowedLeader
from kwire.admin.quorum import QuorumInfo, QuorumNode, RaftVoterEndpoint, ReplicaState
from kwire.doctor.evidence import (
    EndpointOrigin,
    Evidence,
    KnownEndpoint,
    NodeEvidence,
    Unreachable,
)
from kwire.doctor.gather import named_by
from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.image.cluster import ClusterImage
from kwire.image.controller import ControllerRegistration
from kwire.image.features import FeaturesImage
from kwire.image.partition import PartitionRegistration
from kwire.image.topics import TopicImage, TopicsImage
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest
from kwire.net.address import Address
from kwire.net.negotiation import NodeApiVersions, VersionRange

NOW = 1_800_000_000_000
CLUSTER = "3Db5QLSqSZieL3rJBUUegA"
HOST = "10.0.0.{}"
EPOCH = 14

FOLLOWS_1 = FollowedLeader(leader_id=1, epoch=EPOCH)
LATEST = {"metadata.version": VersionRange(7, 33), "kraft.version": VersionRange(0, 1)}
OLD = {"metadata.version": VersionRange(1, 19)}
SECURE = {
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:SSL,BROKER:SSL",
}


def directory(node_id: int) -> UUID:
    """Return the directory id of a node."""
    return UUID(int=(node_id << 64) + 0x8000)


def address(node_id: int) -> Address:
    """Return the address of a node's listener for the quorum."""
    return Address(HOST.format(node_id), 9093)


def replica(node_id: int, *, silent_ms: int | None = 0, behind_ms: int | None = 0) -> ReplicaState:
    """Return a replica that fetched and was caught up so long ago; None for never."""
    return ReplicaState(
        replica_id=node_id,
        replica_directory_id=directory(node_id),
        log_end_offset=100,
        last_fetch_timestamp=None if silent_ms is None else NOW - silent_ms,
        last_caught_up_timestamp=None if behind_ms is None else NOW - behind_ms,
    )


def quorum_info(
    voters: Iterable[ReplicaState],
    observers: Iterable[ReplicaState] = (),
    *,
    leader_id: int | None = None,
    epoch: int = EPOCH,
) -> QuorumInfo:
    """Return a quorum; its first voter leads unless another is named."""
    voters = tuple(voters)
    return QuorumInfo(
        leader_id=voters[0].replica_id if leader_id is None else leader_id,
        leader_epoch=epoch,
        high_watermark=100,
        voters=voters,
        observers=tuple(observers),
        nodes={
            voter.replica_id: QuorumNode(
                node_id=voter.replica_id, endpoints=(endpoint(voter.replica_id),)
            )
            for voter in voters
        },
    )


def endpoint(node_id: int) -> RaftVoterEndpoint:
    """Return a voter's endpoint."""
    at = address(node_id)
    return RaftVoterEndpoint(name="CONTROLLER", host=at.host, port=at.port)


def controller(
    node_id: int | None,
    quorum: QuorumInfo | None = None,
    *,
    at: Address | None = None,
    follows: FollowedLeader | None = FOLLOWS_1,
    cluster_id: str = CLUSTER,
    configs: Mapping[str, str | None] | None = None,
    kraft_version: int = 1,
    registered: Iterable[int] = (),
) -> NodeEvidence:
    """Return a controller that answers everything, by default a follower of 1."""
    keys = (VoteRequest.key, UnregisterControllerRequest.key)
    return NodeEvidence(
        address=address(node_id or 0) if at is None else at,
        seconds=0.01,
        tls=True,
        node_id=node_id,
        api=NodeApiVersions(
            api_versions={key: VersionRange(0, 0) for key in keys if key is not None},
            supported_features=LATEST,
            finalized_features={
                "metadata.version": VersionRange(33, 33),
                "kraft.version": VersionRange(kraft_version, kraft_version),
            },
        ),
        cluster=ClusterDescription(
            cluster_id=cluster_id,
            controller_id=1,
            nodes={
                id: ClusterNode(node_id=id, host=address(id).host, port=9093) for id in registered
            },
        ),
        quorum=quorum,
        follows=follows,
        configs={**SECURE, **(configs or {})},
    )


def broker_at(node_id: int, at: Address) -> NodeEvidence:
    """Return a broker that answers at an address."""
    return NodeEvidence(address=at, node_id=node_id, api=NodeApiVersions(api_versions={}))


def silent(at: Address, reason: Unreachable = Unreachable.REFUSED) -> NodeEvidence:
    """Return an address at which nobody answers."""
    return NodeEvidence(
        address=at,
        failure=f"{at} refused the connection: nothing listens there",
        unreachable=reason,
    )


def evidence_of(
    *nodes: NodeEvidence,
    image: MetadataImage | None = None,
    endpoints: Iterable[KnownEndpoint] = (),
) -> Evidence:
    """Return evidence of these nodes, with the endpoints that they name."""
    bootstrap = KnownEndpoint(address=nodes[0].address, origin=EndpointOrigin.BOOTSTRAP)
    named = [endpoint for node in nodes for endpoint in named_by(node)]
    return Evidence(nodes=nodes, endpoints=(bootstrap, *named, *endpoints), image=image)


def healthy(quorum: QuorumInfo | None = None, *, image: MetadataImage | None = None) -> Evidence:
    """Return evidence of controllers 1, 2 and 3, of which 1 leads, and broker 11."""
    info = quorum or quorum_info(map(replica, (1, 2, 3)), [replica(11)])
    return evidence_of(
        controller(1, info),
        controller(2),
        controller(3),
        image=healthy_image() if image is None else image,
    )


def registered(node_id: int, features: Mapping[str, VersionRange]) -> ControllerRegistration:
    """Return the registration of a controller."""
    return ControllerRegistration(
        id=node_id, incarnation_id=UUID(int=node_id), features=HashTrieMap(dict(features))
    )


def broker(
    node_id: int, features: Mapping[str, VersionRange], *, fenced: bool = False
) -> BrokerRegistration:
    """Return the registration of a broker."""
    return BrokerRegistration(
        id=node_id,
        epoch=node_id,
        incarnation_id=UUID(int=node_id),
        features=HashTrieMap(dict(features)),
        fenced=fenced,
    )


def image_of(
    controllers: Iterable[ControllerRegistration],
    brokers: Iterable[BrokerRegistration],
    partitions: Iterable[PartitionRegistration] = (),
    *,
    level: int = 33,
    zk_migration_state: int = 0,
) -> MetadataImage:
    """Return an image; the partitions are those of a topic `orders`."""
    topic = TopicImage(
        name="orders", id=UUID(int=77), partitions=HashTrieMap(dict(enumerate(partitions)))
    )
    return MetadataImage(
        features=FeaturesImage(
            levels=HashTrieMap({"metadata.version": level}), zk_migration_state=zk_migration_state
        ),
        cluster=ClusterImage(
            controllers=HashTrieMap({item.id: item for item in controllers}),
            brokers=HashTrieMap({item.id: item for item in brokers}),
        ),
        topics=TopicsImage(
            by_id=HashTrieMap({topic.id: topic}), ids=HashTrieMap({topic.name: topic.id})
        ),
    )


def healthy_image() -> MetadataImage:
    """Return the image of the healthy quorum, with a partition on broker 11."""
    return image_of(
        [registered(node_id, LATEST) for node_id in (1, 2, 3)],
        [broker(11, LATEST)],
        [partition((11,), isr=(11,), leader=11)],
    )


def partition(
    replicas: tuple[int, ...],
    *,
    isr: tuple[int, ...],
    leader: int,
    elr: tuple[int, ...] = (),
    last_known_elr: tuple[int, ...] = (),
) -> PartitionRegistration:
    """Return a partition whose replicas have no directories yet."""
    return PartitionRegistration(
        replicas=replicas,
        directories=(UUID(int=0),) * len(replicas),
        isr=isr,
        leader=leader,
        elr=elr,
        last_known_elr=last_known_elr,
    )


def with_configs(node: NodeEvidence, **configs: str) -> NodeEvidence:
    """Return the node with more configuration; underscores stand for dots."""
    more = {name.replace("_", "."): value for name, value in configs.items()}
    return replace(node, configs={**node.configs, **more})
