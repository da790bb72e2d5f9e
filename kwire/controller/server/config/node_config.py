"""The settings of a controller, from Kafka's own server.properties."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from kwire.controller.authorization.standard_authorizer import (
    StandardAuthorizer,
    standard_authorizer,
)
from kwire.controller.handlers.result import ControllerConfig, DelegationTokenConfig
from kwire.controller.raft import Config, Endpoints, ListenerEndpoint, ReplicaKey, Voter, VoterSet
from kwire.controller.rules import Rules
from kwire.controller.server.config import property_values
from kwire.controller.server.config.connection_limits import (
    CONNECTION_KNOWN,
    connection_limits,
    queued_bytes,
)
from kwire.controller.server.config.listener_config import (
    ListenerConfig,
    inter_broker_listener,
    listener_configs,
)
from kwire.controller.server.config.sasl import SASL_LISTENER_KNOWN, TOKEN_SECRET
from kwire.errors import InvalidValue
from kwire.logdir.server_properties import StorageProperties, storage_properties
from kwire.text.properties import read_properties
from kwire.text.untrusted import whole_number


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """The settings of one controller. Times are milliseconds.

    quorum: the times among the `controller.quorum.*` settings, by name.
    authorizer: None without authorizer.class.name. early_start_listeners: names of the listeners
    that answer super users before the ACLs are loaded; the others wait.
    queued_bytes: queued.max.request.bytes, or what stands for it.
    static: all names and values; some are defaults of topics.
    unknown: names that have no effect here, sorted. They are no error: the file of a Kafka
    controller should run.
    """

    storage: StorageProperties
    listeners: tuple[ListenerConfig, ...]
    bootstrap_servers: tuple[tuple[str, int], ...]
    static_voters: VoterSet
    quorum: Mapping[str, int]
    auto_join: bool
    idle_ms: int
    frame_limit: int
    queued_bytes: int
    segment_bytes: int
    snapshot_after_bytes: int
    retention_bytes: int
    static: Mapping[str, str] = field(repr=False)
    authorizer: StandardAuthorizer | None = None
    early_start_listeners: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path) -> NodeConfig:
        """Read a server.properties. InvalidValue, naming the file, for an invalid value."""
        pairs = read_properties(file)
        try:
            return cls.of(pairs)
        except InvalidValue as error:
            raise InvalidValue(f"{file}: {error}") from None

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> NodeConfig:
        """Read names and values. InvalidValue for a missing or invalid value."""
        storage = storage_properties(pairs)
        if storage.roles != {"controller"}:
            raise InvalidValue("process.roles must be controller: kwire has no brokers")
        listeners = listener_configs(pairs)
        frame_limit = property_values.number(pairs, "socket.request.max.bytes", 100 << 20)
        connection_limits(pairs, (listener.name for listener in listeners))  # may be refused
        config = cls(
            storage=storage,
            listeners=listeners,
            bootstrap_servers=property_values.addresses(
                pairs, "controller.quorum.bootstrap.servers"
            ),
            # controller.quorum.voters has addresses only: they belong to the default listener, the
            # first of controller.listener.names.
            static_voters=_static_voters(pairs, listeners[0].name),
            quorum={
                name: property_values.number(pairs, name, default)
                for name, default in _QUORUM.items()
            },
            auto_join=property_values.flag(pairs, "controller.quorum.auto.join.enable"),
            # 0 would close every connection before its first request.
            idle_ms=property_values.positive_number(pairs, "connections.max.idle.ms", 600_000),
            frame_limit=frame_limit,
            queued_bytes=queued_bytes(pairs, frame_limit),
            segment_bytes=property_values.number(pairs, "metadata.log.segment.bytes", 1 << 30),
            snapshot_after_bytes=property_values.number(
                pairs, "metadata.log.max.record.bytes.between.snapshots", 20 << 20
            ),
            retention_bytes=property_values.number(
                pairs, "metadata.max.retention.bytes", 100 << 20
            ),
            static=dict(pairs),
            authorizer=standard_authorizer(pairs),
            early_start_listeners=_early_start_listeners(pairs, listeners),
            unknown=_unknown(pairs, _KNOWN),
        )
        # Last, since what is read here has sentences of its own. Kafka's segments have 8 MiB at
        # least; tests want some with a few records.
        property_values.check_as_kafka(pairs, _KNOWN - {"metadata.log.segment.bytes"})
        return config

    @property
    def node_id(self) -> int:
        """node.id."""
        return self.storage.node_id

    @property
    def inter_broker_listener(self) -> str:
        """inter.broker.listener.name, or the one that stands for it."""
        return inter_broker_listener(self.static)

    @property
    def endpoints(self) -> Endpoints:
        """The advertised endpoints of this node, the default listener first."""
        return Endpoints(
            tuple(
                ListenerEndpoint(
                    name=listener.name, host=listener.advertised_host, port=listener.advertised_port
                )
                for listener in self.listeners
            )
        )

    def raft_config(self, cluster_id: str, directory_id: UUID) -> Config:
        """Return the configuration of the replica; the ids are from its formatted directory."""
        return Config(
            node_id=self.node_id,
            directory_id=directory_id,
            cluster_id=cluster_id,
            listener=self.listeners[0].name,
            endpoints=self.endpoints,
            bootstrap_servers=self.bootstrap_servers,
            static_voters=self.static_voters,
            auto_join=self.auto_join,
            election_timeout_ms=self.quorum["controller.quorum.election.timeout.ms"],
            election_backoff_max_ms=self.quorum["controller.quorum.election.backoff.max.ms"],
            fetch_timeout_ms=self.quorum["controller.quorum.fetch.timeout.ms"],
            request_timeout_ms=self.quorum["controller.quorum.request.timeout.ms"],
            retry_backoff_ms=self.quorum["controller.quorum.retry.backoff.ms"],
        )

    def controller_config(self, cluster_id: str, rules: Rules) -> ControllerConfig:
        """Return the configuration of the state machine."""
        static = self.static
        return ControllerConfig(
            cluster_id=cluster_id,
            node_id=self.node_id,
            session_timeout_ms=property_values.number(static, SESSION_TIMEOUT, 9000),
            default_replication_factor=property_values.number(
                static, "default.replication.factor", 1
            ),
            num_partitions=property_values.number(static, "num.partitions", 1),
            delete_topic_enable=static.get("delete.topic.enable", "true").lower() == "true",
            no_op_interval_ms=property_values.number(static, "metadata.max.idle.interval.ms", 500),
            leader_imbalance_check_interval_ms=1000
            * property_values.number(static, "leader.imbalance.check.interval.seconds", 300),
            unclean_election_interval_ms=property_values.number(
                static, "unclean.leader.election.interval.ms", 300_000
            ),
            quota_window_num=property_values.positive_number(
                static, "controller.quota.window.num", 11
            ),
            quota_window_size_seconds=property_values.positive_number(
                static, "controller.quota.window.size.seconds", 1
            ),
            static=static,
            authorizer=self.authorizer,
            security_protocols={
                listener.name: listener.security_protocol for listener in self.listeners
            },
            delegation_tokens=_delegation_tokens(static),
            rules=rules,
        )


SESSION_TIMEOUT = "broker.session.timeout.ms"

# Kafka's defaults (Java: QuorumConfig).
_QUORUM = {
    "controller.quorum.election.timeout.ms": 1000,
    "controller.quorum.election.backoff.max.ms": 1000,
    "controller.quorum.fetch.timeout.ms": 2000,
    "controller.quorum.request.timeout.ms": 2000,
    "controller.quorum.retry.backoff.ms": 20,
}

# A listener's own values override those of all listeners (KIP-103).
_OF_A_LISTENER = re.compile(
    r"^listener\.name\.[^.]+\.(?:[^.]+\.(?=sasl|connections))?"
    r"(?=ssl\.|sasl\.|connections\.|max\.connections$|max\.connection\.creation\.rate$)"
)
_KNOWN = (
    frozenset(_QUORUM)
    | SASL_LISTENER_KNOWN
    | CONNECTION_KNOWN
    | {
        "advertised.listeners",
        "allow.everyone.if.no.acl.found",
        "authorizer.class.name",
        SESSION_TIMEOUT,
        "connections.max.idle.ms",
        "controller.listener.names",
        "controller.quorum.auto.join.enable",
        "controller.quorum.bootstrap.servers",
        "controller.quorum.voters",
        "controller.quota.window.num",
        "controller.quota.window.size.seconds",
        "default.replication.factor",
        "delegation.token.expiry.check.interval.ms",
        "delegation.token.expiry.time.ms",
        "delegation.token.max.lifetime.ms",
        TOKEN_SECRET,
        "delete.topic.enable",
        "early.start.listeners",
        "leader.imbalance.check.interval.seconds",
        "listener.security.protocol.map",
        "listeners",
        "log.dir",
        "log.dirs",
        "metadata.log.dir",
        "metadata.log.max.record.bytes.between.snapshots",
        "metadata.log.segment.bytes",
        "metadata.max.idle.interval.ms",
        "metadata.max.retention.bytes",
        "node.id",
        "num.partitions",
        "process.roles",
        "socket.request.max.bytes",
        "ssl.client.auth",
        "ssl.endpoint.identification.algorithm",
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.principal.mapping.rules",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.type",
        "super.users",
        "unclean.leader.election.interval.ms",
        "unstable.feature.versions.enable",
    }
)


def _unknown(pairs: Mapping[str, str], known: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in pairs if _OF_A_LISTENER.sub("", name) not in known))


def _early_start_listeners(
    pairs: Mapping[str, str], listeners: tuple[ListenerConfig, ...]
) -> frozenset[str]:
    """Return the names in early.start.listeners; every listener if there is no such property."""
    names = frozenset(listener.name for listener in listeners)
    if "early.start.listeners" not in pairs:
        return names
    early = {name.upper() for name in property_values.listed(pairs, "early.start.listeners")}
    for name in sorted(early - names):
        raise InvalidValue(f"early.start.listeners has {name}, which is no listener of this node")
    return frozenset(early)


def _delegation_tokens(pairs: Mapping[str, str]) -> DelegationTokenConfig:
    default = DelegationTokenConfig()
    return DelegationTokenConfig(
        secret=pairs.get(TOKEN_SECRET) or None,
        max_lifetime_ms=property_values.positive_number(
            pairs, "delegation.token.max.lifetime.ms", default.max_lifetime_ms
        ),
        expiry_time_ms=property_values.positive_number(
            pairs, "delegation.token.expiry.time.ms", default.expiry_time_ms
        ),
        expiry_check_interval_ms=property_values.positive_number(
            pairs, "delegation.token.expiry.check.interval.ms", default.expiry_check_interval_ms
        ),
    )


def _static_voters(pairs: Mapping[str, str], listener: str) -> VoterSet:
    voters = []
    for text in property_values.listed(pairs, "controller.quorum.voters"):
        digits, at, address = text.partition("@")
        id = whole_number(digits, bits=31)
        if not at or id is None:
            raise InvalidValue(f"controller.quorum.voters: {text!r} is not id@host:port")
        host, port = property_values.address(address, "controller.quorum.voters")
        endpoints = Endpoints.single(listener, host, port)
        voters.append(Voter(key=ReplicaKey(id=id), endpoints=endpoints))
    return VoterSet.of(voters)
