"""Nodes that are named in passing messages and are not behind the proxy are told of, once."""

import re
from collections.abc import Mapping
from typing import Any, cast

import pytest

from kwire.batches import build_batch
from kwire.batches.control_records import quorum_record
from kwire.codec.declaration import Message, MetadataRecord, Request, Response
from kwire.codec.fields import ArrayOf, Nullable
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.a60_describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from kwire.messages.a62_broker_registration import Listener as RegisteredListener
from kwire.messages.data.voters_record import VotersRecord
from kwire.messages.index import APIS as API_NAMES
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.registry import message, request, response
from kwire.net.address import Address
from kwire.proxy import DecodedFlow, Flow, Listener, Notice, NoticeKind
from kwire.proxy.addresses.bypass import FREQUENT, FREQUENT_LIMIT, BypassWatch
from kwire.proxy.flows.flow import Effect
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.node_addresses import (
    ADDRESS_FIELDS,
    FIELDS_BY_MESSAGE,
    AddressField,
    frame_may_carry_address,
    node_addresses,
)
from tests.support.bombs import count_records, record_bomb
from tests.support.proxy.addresses.metadata_batches import batch
from tests.support.proxy.dialogue import answered, asked, connection

PROXY = Address("127.0.0.1", 19092)
NODE = Address("broker-1", 9092)
ELSEWHERE = Address("broker-2", 9092)


class Watching:
    """A watch in front of one node, and what it has told."""

    def __init__(self, listener: Listener | None = None, here: Address = PROXY) -> None:
        listener = listener or Listener(node_id=1, upstream=NODE, listen=here)
        self.listeners: Mapping[Listener, Address] = {listener: here}
        self.notices: list[Notice] = []
        self.changes = 0
        self.watch = BypassWatch(lambda: self.listeners, self.notices.append, self.changed)

    def changed(self) -> None:
        """Other frames are wanted from now on."""
        self.changes += 1

    def see(
        self, ask: Request, answer: Response | None, version: int | None = None, *effects: Effect
    ) -> list[str]:
        """An RPC passes, at its latest version; what is told of it."""
        kind = type(ask)
        number = kind.versions.last if version is None else version
        before = len(self.notices)
        flow = Flow(connection(), kind.key or 0, number, 1, "me", 5.0, 0.0, 0)
        flow.request_copy = asked(ask, number, 1)[4:]
        flow.request_size = len(flow.request_copy)
        flow.effects = effects
        if answer is not None:
            flow.response_copy = answered(answer, number, 1)[4:]
            flow.response_size, flow.answered = len(flow.response_copy), 1.0
        self.watch.see(DecodedFlow(flow))
        return [one.text for one in self.notices[before:]]

    def both_roles(self) -> None:
        """Traffic of brokers and of controllers has passed."""
        self.see(MetadataRequest(), MetadataResponse())
        self.see(VoteRequest(), VoteResponse())


def struct(kind: Any, path: list[str], field: AddressField, address: Address) -> Any:
    """A message with one struct at the path that says where node 2 is."""
    made = kind()
    if not path:
        setattr(made, field.host, address.host)
        setattr(made, field.port, address.port)
    else:
        node: Any = kind.fields[path[0]].type
        node = node.inner if isinstance(node, Nullable) else node
        is_list = isinstance(node, ArrayOf)
        cls = (node.element if is_list else node).cls
        inner = struct(cls, path[1:], field, address)
        setattr(made, path[0], [inner] if is_list else inner)
        if field.node_id in cls.fields:  # an id around it would be of another version
            return made
    if field.node_id in kind.fields:
        setattr(made, field.node_id, 2)
    return made


def example(field: AddressField, address: Address) -> Message:
    """A message that names node 2 at this address, in this field."""
    path = field.path.split(".") if field.path else []
    return cast(Message, struct(message(field.message), path, field, address))


def rpc(field: AddressField, body: Message) -> tuple[Request, Response | None, int]:
    """The RPC that carries it, at the latest version in which it can."""
    if isinstance(body, VotersRecord):
        return fetch(build_batch([quorum_record(body)], is_control=True))
    if isinstance(body, MetadataRecord):
        return fetch(batch(body))
    key = cast(Any, type(body)).key
    for version in reversed(list(type(body).versions)):
        try:
            data = body.encode(version)
        except Exception:
            continue
        again = type(body).decode(data, version)
        if [address.field for address in node_addresses(again)] == [field]:
            if isinstance(body, Request):
                return body, None, version
            return request(key)(), cast(Response, body), version
    raise AssertionError(f"no version carries {field}")


def fetch(records: bytes) -> tuple[Request, Response, int]:
    topic = FetchableTopicResponse(
        topic=METADATA_TOPIC,
        topic_id=METADATA_TOPIC_ID,
        partitions=[PartitionData(records=records)],
    )
    asks = FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID)
    return FetchRequest(topics=[asks]), FetchResponse(responses=[topic]), 17


def test_a_node_that_is_named_elsewhere_is_told_of_once(subtests: pytest.Subtests) -> None:
    for field in ADDRESS_FIELDS:
        with subtests.test(f"{field.message}.{field.path}"):
            watching = Watching()
            watching.both_roles()
            for _ in range(3):
                watching.see(*rpc(field, example(field, ELSEWHERE)))
            (notice,) = watching.notices
            assert notice.kind is NoticeKind.BYPASSED
            assert re.match("(node 2|a node) at broker-2:9092 is not behind the proxy", notice.text)
            assert "kwire proxy-config" in notice.text


def test_a_node_that_advertises_the_proxy_is_not(subtests: pytest.Subtests) -> None:
    for field in ADDRESS_FIELDS:
        with subtests.test(f"{field.message}.{field.path}"):
            watching = Watching()
            watching.both_roles()
            watching.see(*rpc(field, example(field, PROXY)))
            assert watching.notices == []


def metadata(*brokers: tuple[int, Address]) -> MetadataResponse:
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node_id, host=address.host, port=address.port)
            for node_id, address in brokers
        ]
    )


def test_all_nodes_of_a_message_are_told_together_and_new_ones_later() -> None:
    watching = Watching()
    ask = MetadataRequest()
    first = metadata((1, NODE), (2, ELSEWHERE))
    (text,) = watching.see(ask, first)
    assert text.startswith(
        "node 1 at broker-1:9092, node 2 at broker-2:9092 are not behind the proxy, and clients"
        " that read this in Metadata connect without it: let the nodes advertise the proxy"
    )
    assert watching.see(ask, first) == []
    (text,) = watching.see(ask, metadata((1, NODE), (3, Address("broker-3", 9092))))
    assert text.startswith("node 3 at broker-3:9092 is not")


@pytest.mark.parametrize(
    ("listen", "upstream", "named", "is_behind"),
    [
        ("127.0.0.1:19092", "broker-1:9092", "127.0.0.1:19092", True),
        ("127.0.0.1:19092", "broker-1:9092", "LocalHost:19092", True),
        ("127.0.0.1:19092", "localhost:9092", "127.0.0.1:9092", False),
        ("127.0.0.1:19092", "broker-1:9092", "10.0.0.7:19092", False),
        ("10.0.0.7:19092", "broker-1:9092", "proxy.example.org:19092", True),
        ("0.0.0.0:19092", "broker-1:9092", "10.0.0.7:19092", True),
        ("0.0.0.0:9092", "broker-1:9092", "proxy.example.org:9092", True),
        ("0.0.0.0:9092", "broker-1:9092", "Broker-1:9092", False),
        (":::9092", "broker-1:9092", "[fd00::7]:9092", True),
        ("0.0.0.0:19092", "broker-1:9092", "10.0.0.7:19093", False),
    ],
)
def test_what_is_behind_the_proxy(listen: str, upstream: str, named: str, is_behind: bool) -> None:
    host, _, port = listen.rpartition(":")
    here = Address(host, int(port))
    listener = Listener(node_id=1, upstream=Address.parse(upstream), listen=here)
    watching = Watching(listener, here)
    told = watching.see(MetadataRequest(), metadata((1, Address.parse(named))))
    assert (told == []) is is_behind


def registration(*addresses: Address) -> BrokerRegistrationRequest:
    listeners = [
        RegisteredListener(name=f"L{number}", host=one.host, port=one.port)
        for number, one in enumerate(addresses)
    ]
    return BrokerRegistrationRequest(broker_id=2, listeners=listeners)


def test_one_listener_of_a_node_behind_the_proxy_is_enough() -> None:
    watching = Watching()
    watching.both_roles()
    answer = BrokerRegistrationResponse()
    assert watching.see(registration(ELSEWHERE, PROXY), answer) == []
    assert watching.see(registration(ELSEWHERE, NODE), answer) != []


def test_only_nodes_of_a_role_whose_traffic_passes_are_meant() -> None:
    """In front of controllers brokers may say what they like, until a broker's traffic passes."""
    watching = Watching()
    assert watching.see(registration(ELSEWHERE), BrokerRegistrationResponse()) == []
    controllers = DescribeClusterResponse(
        endpoint_type=2, brokers=[DescribeClusterBroker(broker_id=3000, host="c", port=9093)]
    )
    (text,) = watching.see(DescribeClusterRequest(endpoint_type=2), controllers)
    assert text.startswith("node 3000 at c:9093 is not behind")
    (text,) = watching.see(MetadataRequest(), metadata())
    assert text.startswith("node 2 at broker-2:9092 is not behind")
    assert "in BrokerRegistration connect without" in text


def test_what_filters_answered_or_changed_is_not_the_nodes_word() -> None:
    watching = Watching()
    for effect in (Effect.ANSWERED, Effect.CHANGED):
        assert watching.see(MetadataRequest(), metadata((1, NODE)), None, Effect.HELD, effect) == []
    assert watching.see(MetadataRequest(), metadata((1, NODE)), None, Effect.HELD) != []


def test_an_envelope_is_looked_into() -> None:
    watching = Watching()
    watching.see(MetadataRequest(), MetadataResponse())
    inner = asked(DescribeClusterRequest(), 1, 7)[4:]
    said = answered(
        DescribeClusterResponse(brokers=[DescribeClusterBroker(broker_id=2, host="x", port=1)]),
        1,
        7,
    )[4:]
    ask = EnvelopeRequest(request_data=inner, client_host_address=b"\x7f\0\0\1")
    (text,) = watching.see(ask, EnvelopeResponse(response_data=said))
    assert text.startswith("node 2 at x:1 is not behind the proxy")


def test_records_are_not_looked_for_in_batches_that_unpack_to_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = count_records(monkeypatch)
    few = [PartitionData(records=record_bomb(1000))] * 30
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=few)
    Watching().see(FetchRequest(), FetchResponse(responses=[topic]))
    assert 1000 < counted.count < 10_000
    bomb = [PartitionData(records=record_bomb() * 8)]
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=bomb)
    counted.count = 0
    Watching().see(FetchRequest(), FetchResponse(responses=[topic]))
    assert counted.count == 0


@pytest.mark.parametrize("key", sorted(FREQUENT))
def test_what_passes_often_is_copied_for_a_while_only(key: int) -> None:
    watching = Watching()
    watch = watching.watch
    version = response(key).versions.last
    flow = Flow(connection(), key, version, 1, "me", 5.0, 0.0, 0)
    watch.see(DecodedFlow(flow))
    flow.response_copy = b""
    wanted = []
    for _ in range(FREQUENT_LIMIT + 1):
        wanted.append(watch.wants(key, version, Direction.RESPONSE))
        assert watching.changes == (not wanted[-1])
        watch.see(DecodedFlow(flow))
    assert wanted == [True] * FREQUENT_LIMIT + [False]
    assert watch.wants(3, 12, Direction.RESPONSE)
    assert not watch.wants(3, 12, Direction.REQUEST)
    assert not watch.wants(9999, 1, Direction.REQUEST)


def test_frames_with_addresses_are_those_of_the_table() -> None:
    found = {
        f"{name}{direction.value.capitalize()}"
        for key, name in API_NAMES.items()
        for direction in Direction
        for version in range(30)
        if frame_may_carry_address(key, version, direction)
    }
    assert found == {one for one in FIELDS_BY_MESSAGE if one.endswith(("Request", "Response"))}
