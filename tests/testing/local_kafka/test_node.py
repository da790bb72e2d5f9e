"""A node's properties and command lines, as StorageTool and KafkaConfig of 4.3 want them."""

from dataclasses import replace

import pytest

from kwire.testing.local_kafka.node import (
    KafkaNode,
    KafkaVoter,
    KnownQuorum,
    NodeListener,
    random_uuid,
)
from real_kafka import Address, Layout

DIRECTORY = "AAAAAAAAQACAAAAAAAAwAA"


def voter(node_id: int) -> KafkaVoter:
    return KafkaVoter(
        node_id=node_id, directory_id=DIRECTORY, address=Address("127.0.0.1", 18000 + node_id)
    )


QUORUM = KnownQuorum(cluster_id="JgxuGe9URy-E-ceaL04lEw", voters=(voter(3000), voter(3001)))

LISTENER = NodeListener(
    name="CONTROLLER",
    listens=Address("127.0.0.1", 21000),
    advertised=Address("127.0.0.1", 22000),
    reached=Address("127.0.0.1", 21000),
)

CONTROLLER = KafkaNode(
    node_id=3000, roles=("controller",), listeners=(LISTENER,), quorum=QUORUM, folder="/kafka"
)

BROKER = replace(
    CONTROLLER, node_id=1, roles=("broker",), listeners=(replace(LISTENER, name="PLAINTEXT"),)
)


def properties(node: KafkaNode) -> dict[str, str]:
    return dict(line.split("=", 1) for line in node.server_properties().splitlines())


def test_a_controller_can_advertise_another_address_than_it_listens_on() -> None:
    told = properties(CONTROLLER)
    assert told["listeners"] == "CONTROLLER://127.0.0.1:21000"
    assert told["advertised.listeners"] == "CONTROLLER://127.0.0.1:22000"
    assert told["controller.listener.names"] == "CONTROLLER"
    assert "inter.broker.listener.name" not in told


def test_a_broker_names_the_controllers_listener_it_does_not_have() -> None:
    told = properties(BROKER)
    assert told["listeners"] == "PLAINTEXT://127.0.0.1:21000"
    assert told["controller.listener.names"] == "CONTROLLER"
    assert told["listener.security.protocol.map"] == "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"
    assert told["inter.broker.listener.name"] == "PLAINTEXT"


def test_a_dynamic_quorum_is_found_by_bootstrap_servers_and_a_static_one_by_its_voters() -> None:
    servers, voters = "controller.quorum.bootstrap.servers", "controller.quorum.voters"
    dynamic = properties(CONTROLLER)
    assert dynamic[servers] == "127.0.0.1:21000,127.0.0.1:21001"
    assert voters not in dynamic
    static = properties(replace(CONTROLLER, quorum=replace(QUORUM, static=True)))
    assert static[voters] == "3000@127.0.0.1:21000,3001@127.0.0.1:21001"
    assert servers not in static


@pytest.mark.parametrize(
    ("node", "flags"),
    [
        (
            CONTROLLER,
            [
                "--initial-controllers",
                f"3000@127.0.0.1:21000:{DIRECTORY},3001@127.0.0.1:21001:{DIRECTORY}",
            ],
        ),
        (replace(CONTROLLER, quorum=replace(QUORUM, voters=(voter(3000),))), ["--standalone"]),
        (replace(CONTROLLER, node_id=3005), ["--no-initial-controllers"]),
        (replace(CONTROLLER, quorum=replace(QUORUM, static=True)), []),
        (BROKER, []),
    ],
    ids=["initial", "standalone", "joining", "static", "broker"],
)
def test_formatting_tells_each_kind_of_node_what_quorum_it_is_in(
    node: KafkaNode, flags: list[str]
) -> None:
    common = ["kafka.tools.StorageTool", "format", "--ignore-formatted"]
    common += ["--cluster-id=JgxuGe9URy-E-ceaL04lEw", "-c", "/kafka/server.properties"]
    assert node.format_arguments() == [*common, *flags]


def test_a_nodes_own_properties_and_jvm_flags_override_the_common_ones() -> None:
    own = replace(CONTROLLER, properties={"node.id": "7", "x": "y"}, jvm=("-Xmx1g",))
    assert (properties(own)["node.id"], properties(own)["x"]) == ("7", "y")
    assert own.jvm_arguments().index("-Xmx1g") > own.jvm_arguments().index("-Xmx256m")


def test_ids_have_kafkas_form() -> None:
    ids = {random_uuid() for _ in range(500)}
    assert len(ids) == 500
    assert {len(id_) for id_ in ids} == {22}
    assert not [id_ for id_ in ids if id_.startswith("-")]


def test_a_layout_knows_the_roles_of_its_nodes_and_of_one_that_joins_later() -> None:
    combined = Layout.combined()
    assert combined.roles(1) == ("broker", "controller")
    quorum = Layout.quorum()
    assert quorum.node_ids == (3000, 3001, 3002, 1)
    assert [quorum.roles(n) for n in (3000, 1, 3005)] == [
        ("controller",),
        ("broker",),
        ("controller",),
    ]


def test_a_layout_without_a_controller_or_with_an_id_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one controller"):
        Layout(controllers=())
    with pytest.raises(ValueError, match="twice"):
        Layout(controllers=(1, 1))


def test_the_security_protocol_of_a_listener_is_the_nodes_own_setting() -> None:
    protocols = "CONTROLLER:SASL_SSL, PLAINTEXT:PLAINTEXT"
    node = replace(CONTROLLER, properties={"listener.security.protocol.map": protocols})
    assert node.security_protocol("CONTROLLER") == "SASL_SSL"
    assert node.security_protocol("PLAINTEXT") == "PLAINTEXT"
    assert CONTROLLER.security_protocol("CONTROLLER") == "PLAINTEXT"
