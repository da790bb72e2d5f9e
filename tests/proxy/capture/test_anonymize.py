"""No name survives anonymizing, and the same name stays the same everywhere."""

from itertools import islice
from typing import Any

import msgspec
import pytest

import vectors
from kwire.capture import CaptureRecord
from kwire.capture.record import ANONYMIZED, LEFT_OUT
from kwire.codec.declaration import Message, Request, Response
from kwire.errors import WireError
from kwire.messages.a00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a42_delete_groups import DeleteGroupsRequest
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.registry import message
from kwire.net.frames import decode_request, decode_response
from kwire.proxy import Notice, NoticeKind
from kwire.proxy.capture.anonymize import Anonymizer
from kwire.proxy.capture.records import event_records
from kwire.proxy.capture.redaction import mask_message
from kwire.proxy.flows.walk import scalars
from tests.support.proxy.dialogue import Dialogue, answered, asked, connection

NAMES = (b"orders", b"payroll", b"kafka7.example", b"192.168.1.7", b"billing", b"secret")
ANONYMIZER = Anonymizer(b"key")


def records(request: Request, response: Response | None, version: int) -> list[CaptureRecord]:
    """An RPC of a client called billing."""
    dialogue = Dialogue()
    dialogue.connection.client = "192.168.1.7:50000"
    dialogue.connection.upstream = "kafka7.example:9092"
    dialogue.ask(asked(request, version, 5, client_id="billing"))
    if response is not None:
        dialogue.answer(answered(response, version, 5))
    dialogue.hang_up()
    return list(event_records(dialogue.flows[0], 0, "c"))


def metadata() -> list[CaptureRecord]:
    topics = [MetadataRequestTopic(name=name) for name in ("orders", "__consumer_offsets")]
    brokers = [MetadataResponseBroker(node_id=1, host="kafka7.example", port=9092)]
    response = MetadataResponse(
        brokers=brokers, topics=[MetadataResponseTopic(name="orders")], cluster_id="secret"
    )
    return records(MetadataRequest(topics=topics), response, 9)


def produced() -> list[CaptureRecord]:
    data = PartitionProduceData(records=b"secret")
    topic = TopicProduceData(name="orders", partition_data=[data])
    return records(ProduceRequest(acks=1, topic_data=[topic]), None, 9)


def enveloped() -> list[CaptureRecord]:
    inner = asked(CreateTopicsRequest(topics=[CreatableTopic(name="orders")]), 7, 1, "billing")
    request = EnvelopeRequest(request_data=inner[4:], client_host_address=b"\x0a\x00\x00\x07")
    response = EnvelopeResponse(response_data=answered(CreateTopicsResponse(), 7, 1)[4:])
    return records(request, response, 0)


def groups() -> list[CaptureRecord]:
    return records(DeleteGroupsRequest(groups_names=("payroll", "orders")), None, 2)


@pytest.mark.parametrize("make", [metadata, produced, enveloped, groups])
def test_no_name_is_left(make: Any) -> None:
    before = make()
    after = ANONYMIZER.event(before)
    assert any(name in repr(before).encode() for name in NAMES)
    assert not [name for name in NAMES if name in repr(after).encode()]
    assert {record.redaction for record in after if record.frame} == {ANONYMIZED}
    assert all(len(record.frame or b"") == record.size for record in after)


def test_the_same_name_is_the_same_everywhere_and_others_stay() -> None:
    request, response = ANONYMIZER.event(metadata())
    asked_for: Any = decode_request(request.frame or b"").body
    told: Any = decode_response(response.frame or b"", 3, 9).body
    orders = ANONYMIZER.name("topic", "orders")
    assert [topic.name for topic in asked_for.topics] == [orders, "__consumer_offsets"]
    assert told.topics[0].name == orders
    assert f"{told.brokers[0].host}:9092" == request.upstream
    assert told.brokers[0].port == 9092
    assert decode_request(request.frame or b"").header.client_id == request.client_id


def test_another_key_gives_other_names() -> None:
    assert Anonymizer(b"other").name("topic", "x") != ANONYMIZER.name("topic", "x")
    assert Anonymizer(b"key").name("topic", "x") == ANONYMIZER.name("topic", "x")


def test_an_address_stays_one() -> None:
    assert ANONYMIZER.name("host", "192.168.1.7").startswith("10.")
    assert ANONYMIZER.name("host", "kafka7.example").startswith("host-")
    assert ANONYMIZER.name("host", "127.0.0.1") == "127.0.0.1"
    assert ANONYMIZER.name("client", "raft-client-3000") == "raft-client-3000"
    assert ANONYMIZER.name("client", "raft-client-3000-billing").startswith("client-")


def test_what_does_not_decode_is_left_out() -> None:
    request, *_ = produced()
    for frame in (b"secret-secret", (request.frame or b"")[:-1]):
        (after,) = ANONYMIZER.event([changed(request, frame)])
        assert (after.frame, after.redaction) == (None, LEFT_OUT)
        assert after.size == request.size


def changed(record: CaptureRecord, frame: bytes) -> CaptureRecord:
    return msgspec.structs.replace(record, frame=frame)


def test_the_words_of_a_notice_are_left_out() -> None:
    notice = Notice(
        connection=connection(), at=1.0, kind=NoticeKind.REFUSED, text="kafka7.example is"
    )
    (after,) = ANONYMIZER.event(list(event_records(notice, 0, "c")))
    assert (after.notice, after.text) == ("REFUSED", "(left out)")


def requests_and_responses() -> list[tuple[type[Message], int, bytes]]:
    """Every fifth message of Kafka 4.4.0's own classes, with all kinds of values."""
    found: list[tuple[type[Message], int, bytes]] = []
    for vector in islice(vectors.messages("4.4.0"), 0, None, 5):
        kind = message(vector.name)
        if issubclass(kind, Request | Response):
            found.append((kind, vector.version, vector.data))
    assert len(found) > 2000
    return found


@pytest.mark.java
def test_no_message_of_kafka_keeps_a_byte_string_or_fails_to_be_written() -> None:
    for kind, version, data in requests_and_responses():
        renamed = kind.decode(data, version)
        ANONYMIZER.message(renamed)
        again = kind.decode(renamed.encode(version), version)
        for _, name, value in scalars(again):
            assert not isinstance(value, bytes) or not value.strip(b"\0"), (kind, name)


@pytest.mark.java
def test_every_message_of_kafka_is_as_long_when_its_secrets_are_masked() -> None:
    for kind, version, data in requests_and_responses():
        masked = kind.decode(data, version)
        try:
            mask_message(masked)
        except WireError:  # records that Kafka's generator of messages made up
            assert kind.__name__ in ("FetchResponse", "FetchSnapshotResponse")
            continue
        assert len(masked.encode(version)) == len(data), kind
