"""Events are recorded into a topic; traffic does not wait for a topic that takes none."""

import asyncio
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kwire.capture import NOTICE, REQUEST, RecordEncoder
from kwire.capture.encoding import BadRecord
from kwire.capture.file import Encoded
from kwire.capture.message import MARK, MessageDecoder, message_head
from kwire.errors import InvalidValue
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.connection import Connection
from kwire.net.security import Security
from kwire.net.stores import BadTls
from kwire.net.tls import ClientTls
from kwire.proxy import Address, Listener, Proxy
from kwire.proxy.capture.record_topic import (
    CLIENT,
    FRAME_LIMIT,
    TopicAddress,
    TopicProducer,
    TopicRecorder,
)
from kwire.proxy.flows.flow import ClientConnection as Connected
from kwire.proxy.flows.flow import Flow, Notice, NoticeKind
from real_kafka import Cluster, free_port
from tests.support.capture.capture_records import KINDS, record
from tests.support.real_kafka.own_names import OwnNames

PATIENCE = 120.0
DAY = 86400.0


def test_a_message_holds_a_record() -> None:
    decoder, encoder = MessageDecoder(), RecordEncoder()
    assert [decoder.decode(message_head() + encoder.encode(kind)) for kind in KINDS] == list(KINDS)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"", "no record of a capture"),
        (b'{"json": true}', "no record of a capture"),
        (MARK + bytes(8) + b"newer", "a schema that this kwire does not know"),
        (message_head() + b"cut", "no record"),
        (message_head() + RecordEncoder().encode(record()) + b"more", "bytes behind the record"),
    ],
)
def test_what_is_no_record_says_so(message: bytes, reason: str) -> None:
    with pytest.raises(BadRecord, match=reason):
        MessageDecoder().decode(message)


@pytest.mark.parametrize("text", ["captures", "@host:1", "a b@host:1", "captures@host"])
def test_an_address_needs_topic_host_and_port(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"is no (topic|address): write"):
        TopicAddress.parse(text)


def test_a_topic_that_is_down_is_told_of_once() -> None:
    said: list[str] = []
    address = TopicAddress.parse(f"captures@127.0.0.1:{free_port()}")
    topic = TopicProducer(address, timeout=0.2, report=said.append)
    for _ in range(20):
        topic.write(0.0, b"a request", b"a response")
    topic.close()
    assert topic.lost == 40
    (sentence,) = said
    assert sentence.startswith(f"{address} does not accept the recording: ")
    assert sentence.endswith("; traffic goes on")


def test_files_that_cannot_be_used_are_told_of_before_anything_is_recorded(tmp_path: Path) -> None:
    security = Security(tls=ClientTls(authorities=tmp_path / "missing.pem"))
    with pytest.raises(BadTls, match=r"cannot read .*missing\.pem: No such file"):
        TopicProducer(TopicAddress.parse("captures@a:1"), security)


class Messages(TopicProducer):
    """Keeps what would be sent."""

    def __init__(self) -> None:
        super().__init__(TopicAddress.parse(f"captures@127.0.0.1:{free_port()}"))
        self.kept: list[bytes] = []

    def write(self, now: float, *records: Encoded) -> None:
        self.kept += [record for record in records if isinstance(record, bytes)]


def test_nothing_that_a_recorders_connection_does_is_recorded() -> None:
    def spoken(connection: Connected, client: str) -> Flow:
        connection.client_id = client
        return Flow(connection, 3, 12, 1, client, 0.0, 0.0, 0)

    def notice(connection: Connected, kind: NoticeKind) -> Notice:
        return Notice(connection=connection, at=0.0, kind=kind, text="")

    own, other, silent, late = (
        Connected(number=number, node_id=1, client="c:1", upstream="n:2", at=0.0)
        for number in range(1, 5)
    )
    messages = Messages()
    with TopicRecorder(messages) as recorder:
        for connection in (own, other, silent, late):
            recorder(notice(connection, NoticeKind.OPENED))
        recorder(spoken(other, "till"))
        recorder(spoken(own, f"{CLIENT}1"))
        recorder(notice(own, NoticeKind.CLOSED))
        recorder(notice(other, NoticeKind.CLOSED))
        late.client_id = f"{CLIENT}2"
    records = [MessageDecoder().decode(message) for message in messages.kept]
    found = [(entry.connection, entry.kind, entry.notice) for entry in records]
    assert found == [
        (2, NOTICE, "OPENED"),
        (2, REQUEST, None),
        (2, NOTICE, "CLOSED"),
        (3, NOTICE, "OPENED"),
    ]


@pytest.fixture
def captured(combined: Cluster, own_name: OwnNames) -> str:
    """A topic of two partitions."""
    admin = AdminClient({"bootstrap.servers": combined.bootstrap_servers})
    name = own_name("captured", at=combined.bootstrap_servers)
    admin.create_topics([NewTopic(name, num_partitions=2)])[name].result(PATIENCE)
    return name


async def test_what_passes_is_in_the_topic_and_the_recorder_is_not(
    combined: Cluster, captured: str
) -> None:
    """The recorder finds the topic through the proxy that it records for."""
    listener = Listener(node_id=1, upstream=Address.parse(combined.bootstrap_servers))
    async with Proxy() as proxy:
        here = await proxy.listen(listener)
        topic = TopicProducer(TopicAddress.parse(f"{captured}@{here}"))
        with ExitStack() as recording:
            recorder = recording.enter_context(TopicRecorder(topic))
            proxy.add_sink(recorder)
            async with await Connection.open(here.host, here.port, client_id="till") as connection:
                for _ in range(5):
                    await connection.send(ApiVersionsRequest())
            await asyncio.to_thread(recording.close)  # the proxy goes on meanwhile
    assert (topic.lost, recorder.dropped) == (0, 0)
    messages = await asyncio.to_thread(consumed, combined.bootstrap_servers, captured)
    records = [MessageDecoder().decode(message.value() or b"") for message in messages]
    spoken = [entry for entry in records if entry.kind != NOTICE]
    assert {one.client_id for one in spoken} == {"till"}
    assert [one.kind for one in spoken].count(REQUEST) >= 5
    assert {entry.capture for entry in records} == {recorder.capture}
    assert {entry.connection for entry in records if entry.kind == NOTICE} == {spoken[0].connection}
    assert "OPENED" in {entry.notice for entry in records}


def test_a_long_frame_is_cut_to_fit_into_a_message(combined: Cluster, captured: str) -> None:
    topic = TopicProducer(TopicAddress.parse(f"{captured}@{combined.bootstrap_servers}"))
    frame = bytes(2 * FRAME_LIMIT)
    with TopicRecorder(topic, show_secrets=True) as recorder:
        recorder(flow(frame))
    assert (recorder.events, topic.lost) == (1, 0)
    (message,) = consumed(combined.bootstrap_servers, captured)
    found = MessageDecoder().decode(message.value() or b"")
    assert (found.size, len(found.frame or b"")) == (len(frame), FRAME_LIMIT)
    assert abs(message.timestamp()[1] / 1000 - time.time()) < DAY  # and not the flow's, of 1970


def flow(frame: bytes) -> Flow:
    """A request that was not answered."""
    connection = Connected(number=1, node_id=1, client="c:1", upstream="n:2", at=0.0)
    return Flow(connection, 3, 12, 1, "till", 0.0, 0.0, len(frame), request_copy=frame)


def consumed(bootstrap: str, topic: str) -> list[Message]:
    """All messages of a topic."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic})
    partitions = [TopicPartition(topic, index, OFFSET_BEGINNING) for index in (0, 1)]
    ends = [consumer.get_watermark_offsets(partition, PATIENCE)[1] for partition in partitions]
    consumer.assign(partitions)
    found: list[Message] = []
    until = time.monotonic() + PATIENCE
    while len(found) < sum(ends):
        assert time.monotonic() < until, f"{len(found)} of {sum(ends)} messages"
        found += consumer.consume(1000, timeout=1.0)
    consumer.close()
    return found
