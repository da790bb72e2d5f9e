"""server.properties as Kafka's documentation writes it becomes a controller's configuration."""

from pathlib import Path

import pytest

from kwire.controller.authorization.standard_authorizer import CLASS_NAME, StandardAuthorizer
from kwire.controller.raft import ListenerEndpoint, ReplicaKey
from kwire.controller.rules import Rules
from kwire.controller.server.config.node_config import NodeConfig
from kwire.errors import InvalidValue
from kwire.text.ids import ZERO_UUID

PAIRS = {
    "process.roles": "controller",
    "node.id": "3000",
    "log.dirs": "/data",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093,[::1]:9094",
}


def test_times_are_kafkas_defaults_where_the_file_is_silent() -> None:
    raft = NodeConfig.of(PAIRS).raft_config("a-cluster", ZERO_UUID)
    assert (raft.election_timeout_ms, raft.fetch_timeout_ms, raft.request_timeout_ms) == (
        1000,
        2000,
        2000,
    )
    assert raft.bootstrap_servers == (("localhost", 9093), ("::1", 9094))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"listeners": "CONTROLLER://127.0.0.1:0"}, "CONTROLLER is advertised without"),
        ({"advertised.listeners": "CONTROLLER://:9093"}, "CONTROLLER is advertised without"),
        ({"advertised.listeners": "CONTROLLER://h:0"}, "CONTROLLER is advertised without"),
        ({"listeners": "CONTROLLER://h:1,controller://h:2"}, "listeners has CONTROLLER twice"),
    ],
)
def test_an_address_that_no_registration_may_have_is_refused_at_the_start(
    changes: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidValue, match=reason):
        NodeConfig.of(PAIRS | changes)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num.partitions", "0"),
        ("num.partitions", "2147483648"),
        ("default.replication.factor", "many"),
        ("delete.topic.enable", "yes"),
        ("leader.imbalance.check.interval.seconds", "0"),
        ("unclean.leader.election.interval.ms", "0"),
        ("metadata.log.max.record.bytes.between.snapshots", "0"),
        ("socket.request.max.bytes", "0"),
        ("controller.quorum.election.timeout.ms", "9223372036854775807"),
        ("min.insync.replicas", "0"),
        ("log.cleanup.policy", "nonsense"),
    ],
)
def test_a_value_with_which_kafka_does_not_start_is_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidValue, match=f"Invalid value {value} for configuration {name}"):
        NodeConfig.of(PAIRS | {name: value})


def test_the_address_to_be_reached_at_is_the_advertised_one() -> None:
    pairs = PAIRS | {"advertised.listeners": "controller://proxy:19093"}
    assert list(NodeConfig.of(pairs).endpoints) == [
        ListenerEndpoint(name="CONTROLLER", host="proxy", port=19093)
    ]


def test_static_voters_have_ids_and_addresses_but_no_directories() -> None:
    voters = NodeConfig.of(PAIRS | {"controller.quorum.voters": "1@a:1,2@b:2"}).static_voters
    assert voters.keys == (ReplicaKey(id=1), ReplicaKey(id=2))
    assert [(address.host, address.port) for address in voters.endpoints(2)] == [("b", 2)]


def test_names_that_are_not_taken_are_told() -> None:
    config = NodeConfig.of(PAIRS | {"num.io.threads": "8", "background.threads": "x"})
    assert config.unknown == ("background.threads", "num.io.threads")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"process.roles": "broker"}, "kwire has no brokers"),
        ({"node.id": "x"}, "node.id is 'x'"),
        ({"node.id": "9" * 5000}, "it must be a number from 0 on"),
        ({"controller.quorum.fetch.timeout.ms": "9" * 5000}, "it must be a number from 0 on"),
        ({"controller.quorum.voters": f"{'9' * 5000}@localhost:1"}, "is not id@host:port"),
        ({"controller.quorum.fetch.timeout.ms": "soon"}, "fetch.timeout.ms is 'soon'"),
        ({"controller.quorum.auto.join.enable": "perhaps"}, "auto.join.enable is 'perhaps'"),
        ({"controller.quorum.bootstrap.servers": "localhost"}, "'localhost' is not host:port"),
        ({"controller.quorum.bootstrap.servers": f"h:{'9' * 5000}"}, "9' is not host:port"),
        ({"controller.quorum.voters": "localhost:1"}, "'localhost:1' is not id@host:port"),
        ({"controller.listener.names": "OTHER"}, "listeners has no OTHER"),
        ({"listener.security.protocol.map": "CONTROLLER:TLS"}, "has TLS, which is none of"),
        ({"listener.security.protocol.map": "CONTROLLER:SASL_SSL"}, "needs ssl.keystore.location"),
        ({"listener.security.protocol.map": "CONTROLLER:SSL"}, "needs ssl.keystore.location"),
        (
            {
                "listener.security.protocol.map": "CONTROLLER:SSL",
                "ssl.keystore.location": "/x.jks",
            },
            "only PEM is read here",
        ),
    ],
)
def test_a_value_without_meaning_is_named(change: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        NodeConfig.of(PAIRS | change)


def test_the_file_is_named_beside_the_value(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("process.roles=controller\nnode.id=-1\n")
    with pytest.raises(InvalidValue, match=str(file)):
        NodeConfig.read(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidValue, match="is no text in UTF-8"):
        NodeConfig.read(file)


def test_the_authorizer_is_part_of_both_configurations() -> None:
    pairs = PAIRS | {"authorizer.class.name": CLASS_NAME, "super.users": "User:a;User:b"}

    config = NodeConfig.of(pairs)

    assert config.authorizer == StandardAuthorizer(super_users=frozenset({"User:a", "User:b"}))
    assert config.controller_config("a-cluster", Rules()).authorizer == config.authorizer
    assert not set(config.unknown) & pairs.keys()
    assert NodeConfig.of(PAIRS).authorizer is None


def test_listeners_start_early_unless_the_file_says_otherwise() -> None:
    assert NodeConfig.of(PAIRS).early_start_listeners == {"CONTROLLER"}
    assert NodeConfig.of(PAIRS | {"early.start.listeners": ""}).early_start_listeners == set()
    with pytest.raises(InvalidValue, match=r"early\.start\.listeners has OTHER"):
        NodeConfig.of(PAIRS | {"early.start.listeners": "OTHER"})
