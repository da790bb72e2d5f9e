"""Every message with an address gets the proxy's, and nothing else in it, or in others, changes."""

from collections.abc import Iterator
from struct import pack
from typing import Any

import pytest

import vectors
from kwire.codec.declaration import Message, Request
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    NodeEndpoint,
    PartitionData,
)
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.index import APIS
from kwire.messages.registry import message, request, response
from kwire.net.address import Address
from kwire.net.frames import decode_response, encode_request
from kwire.net.frames import response_header_version as header_version
from kwire.proxy import Copies, Filters, NoticeKind
from kwire.proxy.addresses import AddressBook
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.data_path.gate import FRAME_HELD
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.node_addresses import FIELDS_BY_MESSAGE, node_addresses
from tests.support.proxy.addresses.address_books import InstantListeners, RequestedListeners
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue
from vectors import Vector

RPCS = {f"{name}{kind}": key for key, name in APIS.items() for kind in ("Request", "Response")}
OTHERS = {"FetchSnapshotRequest", "ApiVersionsResponse", "FetchResponse"}
"""Messages without addresses of their own that the filter wants nevertheless."""

ZOOKEEPER = {"LeaderAndIsrRequest", "UpdateMetadataRequest"}
"""Messages that Kafka 4 has no more."""


def rpcs() -> Iterator[Vector]:
    """Return the vectors of the messages in the table, which Kafka's own classes wrote."""
    for release, names in (("4.4.0", FIELDS_BY_MESSAGE.keys() - ZOOKEEPER), ("3.9.1", ZOOKEEPER)):
        for vector in vectors.messages(release):
            if vector.name in names & RPCS.keys():
                yield vector


def passed(vector: Vector, book: AddressBook) -> tuple[bytes, bytes]:
    """The body of the message before and after it has passed the filter."""
    key, version, kind = RPCS[vector.name], vector.version, message(vector.name)
    dialogue = HeldDialogue(filters=Filters([RewriteEndpoints(book)]))
    if issubclass(kind, Request):
        header = encode_request(kind(), version, correlation_id=7, client_id="me")
        head = header[4 : len(header) - len(kind().encode(version))]
        came = dialogue.ask(framed(head + vector.data))
    else:
        question = request(key)() if key else ProduceRequest(acks=1)  # without acks no answer
        dialogue.ask(asked(question, version, 7))
        head = pack(">i", 7) + b"\x00" * header_version(key, version)
        came = dialogue.answer(framed(head + vector.data))
    size = int.from_bytes(came[:4], "big")
    assert size == len(came) - 4
    assert came[4 : 4 + len(head)] == head
    return vector.data, came[4 + len(head) :]


def framed(data: bytes) -> bytes:
    return pack(">i", len(data)) + data


def without_addresses(data: bytes, kind: type[Message], version: int) -> tuple[Any, list[Address]]:
    """A message whose addresses are taken out, and these."""
    body = kind.decode(data, version)
    found = list(node_addresses(body))
    addresses = [place.address for place in found]
    for place in found:
        place.change(Address("", 0))
    return body, addresses


@pytest.mark.java
def test_all_that_changes_in_kafkas_own_messages_is_where_the_nodes_are() -> None:
    seen: dict[str, int] = {}
    for vector in rpcs():
        openings = InstantListeners()
        kind = message(vector.name)
        before, after = passed(vector, openings.book)
        body, real = without_addresses(before, kind, vector.version)
        rewritten, told = without_addresses(after, kind, vector.version)
        assert rewritten == body, vector.name
        assert told == [openings.book.proxy_address(address) for address in real], vector.name
        assert real or after == before, vector.name
        assert [address for _, address in openings.sought] == list(dict.fromkeys(real))
        seen[vector.name] = seen.get(vector.name, 0) + len(real)
    assert [name for name, number in seen.items() if not number] == []
    assert seen.keys() == FIELDS_BY_MESSAGE.keys() & RPCS.keys()


def test_no_other_message_is_looked_at() -> None:
    filters = Filters([RewriteEndpoints(AddressBook())])
    wanted = {
        f"{APIS[key]}{direction.value.capitalize()}"
        for key in APIS
        for direction in Direction
        for version in message(f"{APIS[key]}Request").versions
        if filters.handlers(key, version, direction)
    }
    named = {name.removesuffix("Request") for name in FIELDS_BY_MESSAGE if name in RPCS}
    answers = {f"{name}Response" for name in named if f"{name}Request" in FIELDS_BY_MESSAGE}
    assert wanted == (FIELDS_BY_MESSAGE.keys() & RPCS.keys()) | answers | OTHERS


METADATA = MetadataResponse(
    brokers=[MetadataResponseBroker(node_id=4, host="node", port=9092)], cluster_id="c"
)


def hosts(frame: bytes) -> list[tuple[str, int]]:
    body = decode_response(frame[4:], 3, 12).body
    assert isinstance(body, MetadataResponse)
    return [(broker.host, broker.port) for broker in body.brokers]


def test_a_message_waits_until_the_proxy_listens_for_a_node_that_is_new() -> None:
    book = AddressBook(advertised_host="here")
    dialogue = HeldDialogue(filters=Filters([RewriteEndpoints(book)]))
    dialogue.ask(asked(MetadataRequest(), 12, 1), asked(MetadataRequest(), 12, 2))
    assert dialogue.answer(answered(METADATA, 12, 1)) == b""
    listeners = RequestedListeners(book)
    ((named, found),) = listeners.requests
    assert (named.node_id, named.address, named.by_node) == (4, Address("node", 9092), True)
    found(book.add(named.address, Address("0.0.0.0", 19092)))
    assert hosts(dialogue.at_client) == [("here", 19092)]
    dialogue.answer(answered(METADATA, 12, 2))
    assert len(listeners.requests) == 1
    notes = [flow.notes for flow in dialogue.flows]
    assert notes[0][0] == "listening at here:19092 in front of node:9092 of node 4"


def test_the_longest_answer_of_a_consumer_is_rewritten_and_a_longer_one_is_told() -> None:
    book = AddressBook(advertised_host="here")
    book.add(Address("node", 9092), Address("0.0.0.0", 19092))
    dialogue = HeldDialogue(filters=Filters([RewriteEndpoints(book)]), memory=Copies(FRAME_HELD))
    for number, size in ((1, 55 << 20), (2, FRAME_HELD)):
        partition = PartitionData(records=bytes(size))
        moved = FetchResponse(
            responses=[FetchableTopicResponse(partitions=[partition])],
            node_endpoints=[NodeEndpoint(node_id=4, host="node", port=9092)],
        )
        dialogue.ask(asked(FetchRequest(), 16, number))
        dialogue.at_client = b""
        dialogue.answer(answered(moved, 16, number))
        came = decode_response(dialogue.at_client[4:], 1, 16).body
        assert isinstance(came, FetchResponse)
        assert came.responses == moved.responses
        (told,) = came.node_endpoints
        slipped = number == 2
        assert (told.host, told.port) == (("node", 9092) if slipped else ("here", 19092))
        assert len(dialogue.flows[-1].problems) == slipped
    (notice,) = dialogue.notices
    assert "Fetch v16 passed as it came: " in notice.text


def test_a_listener_that_is_there_too_late_for_one_connection_is_in_time_for_others() -> None:
    book = AddressBook()
    listeners = RequestedListeners(book)
    filters = Filters([RewriteEndpoints(book)])
    gone, waiting = (HeldDialogue(filters=filters) for _ in range(2))
    for dialogue in (gone, waiting):
        dialogue.ask(asked(MetadataRequest(), 12, 1))
        dialogue.answer(answered(METADATA, 12, 1))
    gone.hang_up()
    told = book.add(Address("node", 9092), Address("here", 19092))
    for _, found in listeners.requests:
        found(told)
    assert (gone.at_client, hosts(waiting.at_client)) == (b"", [("here", 19092)])


def test_an_address_stays_where_the_proxy_cannot_listen_and_the_flow_says_so() -> None:
    book = AddressBook()
    dialogue = HeldDialogue(filters=Filters([RewriteEndpoints(book)]))
    dialogue.ask(asked(MetadataRequest(), 12, 1))
    sent = answered(METADATA, 12, 1)
    dialogue.answer(sent)
    listeners = RequestedListeners(book)
    ((_, found),) = listeners.requests
    found("there are too many")
    assert dialogue.at_client == sent
    (flow,), (notice,) = dialogue.flows, listeners.told
    assert flow.notes == (notice.text,)
    assert (notice.kind, notice.connection) == (NoticeKind.ADDRESS_REFUSED, flow.connection)
    assert notice.text == (
        "the address node:9092 of node 4 in Metadata stays as it is: there are too many"
    )


def test_what_is_the_proxys_already_passes_as_it_came() -> None:
    book = AddressBook()
    book.add(Address("real", 1), Address("NODE", 9092))
    dialogue = HeldDialogue(filters=Filters([RewriteEndpoints(book)]))
    dialogue.ask(asked(MetadataRequest(), 12, 1))
    sent = answered(METADATA, 12, 1)
    assert dialogue.answer(sent) == sent


def test_api_versions_offers_what_can_be_rewritten_and_leaves_the_rest() -> None:
    offered = dict.fromkeys(APIS, (0, 99)) | {9999: (0, 3), 3: (98, 99), 52: (0, 1)}
    sent = ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=least, max_version=most)
            for key, (least, most) in offered.items()
        ]
    )
    dialogue = HeldDialogue(filters=Filters([RewriteEndpoints(AddressBook())]))
    dialogue.ask(asked(ApiVersionsRequest(), 4, 1))
    body = decode_response(dialogue.answer(answered(sent, 4, 1))[4:], 18, 4).body
    assert isinstance(body, ApiVersionsResponse)
    got = {api.api_key: (api.min_version, api.max_version) for api in body.api_keys}
    for key, name in APIS.items():
        carried = {f"{name}Request", f"{name}Response"} & FIELDS_BY_MESSAGE.keys()
        if carried and key not in (3, 52):
            assert got[key] == (0, response(key).versions.last)
        elif not carried:
            assert got[key] == (0, 99)
    assert 3 not in got
    assert (got[52], got[9999]) == ((0, 1), (0, 3))
