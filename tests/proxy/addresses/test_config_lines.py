"""The lines for server.properties; that Kafka goes by them, test_on_kafka shows."""

from itertools import count

import pytest

from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.proxy.addresses.config_lines import config_lines, proxied_nodes

CONTROLLER = {
    "process.roles": "controller",
    "node.id": "3000",
    "listeners": "CONTROLLER://:9093",
    "advertised.listeners": "CONTROLLER://node-3000:9093",
    "controller.listener.names": "CONTROLLER",
}
COMBINED = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://[::1]:9092,SSL://node-1:9094, CONTROLLER://node-1:9093",
    "advertised.listeners": "SSL://public:443",
    "controller.listener.names": "CONTROLLER",
}
BROKER = {
    "process.roles": "broker",
    "node.id": "2",
    "listeners": "PLAINTEXT://node-2:9092",
    "controller.listener.names": "CONTROLLER",
}


def lines(*files: dict[str, str], advertise: bool = True) -> list[dict[str, str]]:
    ports = count(19_000)
    nodes = proxied_nodes(files, lambda: Address("proxy", next(ports)))
    return [config_lines(node, nodes, advertise=advertise) for node in nodes]


def test_every_listener_is_advertised_at_the_proxy_and_the_quorum_found_there() -> None:
    bootstrap = {"controller.quorum.bootstrap.servers": "proxy:19000,proxy:19003"}
    assert lines(CONTROLLER, COMBINED, BROKER) == [
        {"advertised.listeners": "CONTROLLER://proxy:19000"} | bootstrap,
        {
            "advertised.listeners": "PLAINTEXT://proxy:19001,SSL://proxy:19002,"
            "CONTROLLER://proxy:19003"
        }
        | bootstrap,
        {"advertised.listeners": "PLAINTEXT://proxy:19004"} | bootstrap,
    ]


def test_the_proxy_goes_where_the_node_was_reached_before() -> None:
    ports = count(1)
    (node,) = proxied_nodes([COMBINED], lambda: Address("proxy", next(ports)))
    assert {name: str(one.upstream) for name, one in node.listeners.items()} == {
        "PLAINTEXT": "[::1]:9092",
        "SSL": "public:443",
        "CONTROLLER": "node-1:9093",
    }


def test_a_static_quorum_is_named_by_its_voters() -> None:
    static = CONTROLLER | {"controller.quorum.voters": "3000@node-3000:9093"}
    assert lines(static)[0]["controller.quorum.voters"] == "3000@proxy:19000"


def test_where_the_proxy_rewrites_only_the_way_to_the_quorum_changes() -> None:
    bootstrap = {"controller.quorum.bootstrap.servers": "proxy:19000"}
    assert lines(CONTROLLER, BROKER, advertise=False) == [bootstrap, bootstrap]
    assert lines(BROKER, advertise=False) == [{}]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([CONTROLLER, CONTROLLER], "two files have node.id 3000"),
        (
            [CONTROLLER | {"advertised.listeners": ""}],
            "CONTROLLER of node 3000: no client can connect to an empty host",
        ),
        ([CONTROLLER | {"listeners": "CONTROLLER"}], "is no listener"),
        ([CONTROLLER | {"listeners": "CONTROLLER://:" + "9" * 5000}], "is no listener"),
        ([CONTROLLER | {"listeners": "CONTROLLER://:٣"}], "is no listener"),
        ([{"process.roles": "controller", "node.id": "1"}], "controller.listener.names"),
    ],
)
def test_files_that_do_not_say_enough_are_refused(files: list[dict[str, str]], said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        lines(*files)
