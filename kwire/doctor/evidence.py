"""The evidence that checks look at: what every node answered, and the metadata that was observed.

Partial evidence is normal: None, an empty value or an entry in `refusals` says what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from kwire.admin.cluster_description import ClusterDescription
from kwire.admin.controller_state import FollowedLeader
from kwire.admin.quorum import QuorumInfo, ReplicaState
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.metadata_versions import KRAFT_VERSION
from kwire.net.address import Address
from kwire.net.negotiation import NodeApiVersions

if TYPE_CHECKING:
    from kwire.image import MetadataImage

CONFIG_KEYS = (
    "node.id",
    "process.roles",
    "controller.listener.names",
    "controller.quorum.auto.join.enable",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.fetch.timeout.ms",
    "controller.quorum.voters",
    "advertised.listeners",
    "listeners",
    "listener.security.protocol.map",
    "min.insync.replicas",
    "sasl.mechanism.controller.protocol",
)
"""The keys that are asked for; no secret is among them."""

FETCH_TIMEOUT_MS = 2_000
"""Kafka's default of controller.quorum.fetch.timeout.ms."""


class EndpointOrigin(Enum):
    """The place from which an endpoint is known."""

    BOOTSTRAP = "bootstrap"
    VOTER_SET = "voter set"
    REGISTRATION = "registration"
    LEADER = "leader named by a node"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEndpoint:
    """An endpoint of a controller. node_id, listener, protocol: None if they are not known.

    protocol: the security protocol that the controller registered for it, as `SASL_SSL`.
    """

    address: Address
    origin: EndpointOrigin
    node_id: int | None = None
    listener: str | None = None
    protocol: str | None = None

    def __str__(self) -> str:
        return f"{self.listener}://{self.address}" if self.listener else str(self.address)


class Unreachable(Enum):
    """The reason why an address gave no answer."""

    REFUSED = "refused"
    UNRESOLVED = "unresolved"
    SILENT = "silent"
    NOT_KAFKA = "not kafka"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodeEvidence:
    """The answers of the node at one address.

    failure: a sentence why it could not be asked at all, with its reason in `unreachable`; else
    None. seconds: how long connecting took. tls: True if the connection was. node_id: as the node
    itself said; None if it would not. api: its APIs and features. cluster, quorum, follows,
    configs: its own answers. refusals: for the answers that are missing, the reason by API name.
    """

    address: Address
    failure: str | None = None
    unreachable: Unreachable | None = None
    seconds: float = 0.0
    tls: bool = False
    node_id: int | None = None
    api: NodeApiVersions | None = None
    cluster: ClusterDescription | None = None
    quorum: QuorumInfo | None = None
    follows: FollowedLeader | None = None
    configs: Mapping[str, str | None] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> bool:
        """True if it speaks Kafka's protocol with us."""
        return self.api is not None

    @property
    def is_controller(self) -> bool:
        """True if it takes votes, as only controllers do."""
        return self.api is not None and VoteRequest.key in self.api.api_versions

    @property
    def has_empty_log(self) -> bool:
        """True if a controller has never heard of a leader: it does not even know an epoch."""
        follows = self.follows
        return follows is not None and follows.leader_id is None and follows.epoch == 0

    @property
    def cluster_id(self) -> str | None:
        """The id of its cluster, as it told it."""
        return None if self.cluster is None else self.cluster.cluster_id

    @property
    def lacks_metadata(self) -> bool:
        """True for a controller that has read no metadata since it started."""
        return self.api is not None and self.api.lacks_metadata

    @property
    def name(self) -> str:
        """`controller 3001`, or its address while its id is not known."""
        kind = "controller" if self.is_controller or not self.answers else "broker"
        return f"{kind} {self.address if self.node_id is None else self.node_id}"

    def config(self, name: str) -> str:
        """Return a value of its configuration; empty if it is not set or not known."""
        return self.configs.get(name) or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that was gathered.

    nodes: one for each address that was dialled, controllers mostly. endpoints: the controllers'
    addresses and how each is known. image: the metadata log as observed, None if no leader gave
    it; `no_image` says why. brokers: by id, what their endpoints answered; only fenced ones are
    dialled unless all were asked for. protocol: the security protocol that was spoken with all.
    principal: the one that we logged in as, None without a user.
    """

    nodes: tuple[NodeEvidence, ...] = ()
    endpoints: tuple[KnownEndpoint, ...] = ()
    image: MetadataImage | None = None
    no_image: str = ""
    brokers: Mapping[int, NodeEvidence] = field(default_factory=dict)
    protocol: str | None = None
    principal: str | None = None

    @property
    def controllers(self) -> tuple[NodeEvidence, ...]:
        """The controllers that answer, each once though it may have several addresses."""
        unique: dict[object, NodeEvidence] = {}
        for node in self.nodes:
            if node.is_controller:
                unique.setdefault(_identity(node), node)
        return tuple(unique.values())

    def at(self, address: Address) -> NodeEvidence | None:
        """Return what the node at an address answered; None if it was not dialled."""
        return next((node for node in self.nodes if node.address == address), None)

    def controller(self, node_id: int) -> NodeEvidence | None:
        """Return the answers of one controller; None if it gave none."""
        return next((node for node in self.controllers if node.node_id == node_id), None)

    @property
    def leaders(self) -> tuple[NodeEvidence, ...]:
        """The controllers that answered DescribeQuorum as a leader does."""
        return tuple(node for node in self.controllers if node.quorum is not None)

    @property
    def leaders_without_quorum(self) -> tuple[NodeEvidence, ...]:
        """The controllers that are named as leader, and answer all but DescribeQuorum."""
        named = {node.follows.leader_id for node in self.controllers if node.follows}
        return tuple(
            node
            for node in self.controllers
            if node.node_id is not None
            and node.node_id in named
            and node.quorum is None
            and "DescribeQuorum" in node.refusals
        )

    @property
    def quorum(self) -> QuorumInfo | None:
        """The quorum as the leader of the highest epoch sees it, or as a broker forwarded it."""
        direct = [node.quorum for node in self.leaders if node.quorum]
        known = direct or [node.quorum for node in self.nodes if node.quorum]
        return max(known, key=lambda quorum: quorum.leader_epoch, default=None)

    @property
    def fetch_timeout_ms(self) -> int:
        """The smallest controller.quorum.fetch.timeout.ms that a controller has."""
        texts = [node.config("controller.quorum.fetch.timeout.ms") for node in self.controllers]
        return min((int(text) for text in texts if text.isdecimal()), default=FETCH_TIMEOUT_MS)

    @property
    def kraft_version(self) -> int | None:
        """The finalised kraft.version; 0 means static voters. None if no node told."""
        levels = [
            level.max_version if (level := node.api.finalized_features.get(KRAFT_VERSION)) else 0
            for node in self.controllers
            if node.api is not None and node.api.finalized_features
        ]
        return max(levels, default=None)

    @property
    def voters_are_dynamic(self) -> bool | None:
        """True if kraft.version is 1 and the voter set stands in the log; None if nobody leads.

        The level alone does not say it: Kafka 3.9 and 4.0 raise it and leave the voters static
        (KAFKA-18979). Only voters of the log have directory ids.
        """
        quorum = self.quorum
        if quorum is None or not quorum.voters:
            return None
        return bool(self.kraft_version) and all(
            voter.replica_directory_id is not None for voter in quorum.voters
        )

    @property
    def registered_controllers(self) -> set[int]:
        """The ids of registered controllers, by the image, else by what controllers answered."""
        if self.image is not None:
            return set(self.image.cluster.controllers)
        return {
            node_id for node in self.controllers if node.cluster for node_id in node.cluster.nodes
        }

    @property
    def all_controllers(self) -> set[int]:
        """The ids of all controllers: those registered, and those that answered as one."""
        answered = {node.node_id for node in self.controllers if node.node_id is not None}
        return self.registered_controllers | answered

    @property
    def bootstrap_servers(self) -> list[Address]:
        """An address of each voter, by node id; of the registered controllers without a leader."""
        known = self.addresses_of_voters
        for endpoint in self.endpoints:
            if not known and endpoint.origin is EndpointOrigin.REGISTRATION:
                known.setdefault(endpoint.node_id or 0, []).append(endpoint)
        return [endpoints[0].address for _, endpoints in sorted(known.items())]

    @property
    def addresses_of_voters(self) -> dict[int, list[KnownEndpoint]]:
        """The endpoints of each voter as the voter set has them."""
        voters: dict[int, list[KnownEndpoint]] = {}
        for endpoint in self.endpoints:
            if endpoint.origin is EndpointOrigin.VOTER_SET and endpoint.node_id is not None:
                voters.setdefault(endpoint.node_id, []).append(endpoint)
        return voters


def _identity(node: NodeEvidence) -> object:
    cluster_id = node.cluster.cluster_id if node.cluster else None
    return node.address if node.node_id is None else (cluster_id, node.node_id)


def behind_ms(quorum: QuorumInfo, replica: ReplicaState) -> int | None:
    """Return for how long a replica has not been caught up; None if times are not known.

    Both times are the leader's, so that the clock of this machine does not matter.
    """
    leader = quorum.leader or max(
        (*quorum.voters, *quorum.observers),
        key=lambda other: other.last_fetch_timestamp or 0,
        default=None,
    )
    if leader is None or leader.last_caught_up_timestamp is None:
        return None
    if replica is leader:
        return 0
    if replica.last_caught_up_timestamp is None:
        return None
    return max(0, leader.last_caught_up_timestamp - replica.last_caught_up_timestamp)


def is_caught_up(quorum: QuorumInfo, replica: ReplicaState, limit_ms: int) -> bool:
    """True if a replica had all of the log less than `limit_ms` ago, as the leader counts."""
    # A replica that the leader has not heard of since it was elected has no times.
    behind = behind_ms(quorum, replica)
    return behind is not None and behind < limit_ms


def seconds_text(milliseconds: int) -> str:
    """Return a duration: `0.3 s`, `12 s`, `3.5 h`."""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:.1f} h"
