"""The recorder writes the events of the proxy, flow for flow."""

import asyncio
import errno
from pathlib import Path
from typing import Any

import pytest

from kwire.capture import (
    CannotRecord,
    CaptureFiles,
    CaptureRecord,
    Damage,
    Window,
    captures_at,
    read_capture,
)
from kwire.capture.file import BLOCK_SIZE
from kwire.capture.record import MASKED_FIELDS
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.net.connection import Connection as Client
from kwire.net.frames import encode_request
from kwire.net.quorum_request import quorum_request
from kwire.proxy import DecodedFlow, Event, Flow, Listener, Notice, NoticeKind, Proxy, Ring
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.capture.records import event_records, events, within
from kwire.proxy.flows.flow import Effect
from kwire.proxy.flows.language import parse
from real_kafka import Cluster
from tests.support.proxy.capture.events import lost, plain
from tests.support.proxy.dialogue import Dialogue, asked, connection
from tests.support.proxy.flows.dialogue_flows import votes
from tests.support.proxy.kafka_behind_proxy import kwire_address


def recorded(path: Path) -> list[Event]:
    """Return the events of a capture without damage."""
    found: list[Event] = []
    for file in captures_at([path]):
        for event in events(read_capture(file)):
            assert not isinstance(event, Damage)
            found.append(event)
    return found


def test_events_come_back_as_they_were(tmp_path: Path) -> None:
    said = Notice(connection=connection(), at=5.0, kind=NoticeKind.REFUSED, text="nobody")
    said.connection.number = 3
    given: list[Event] = [*votes(20, padding=100), lost(), said]
    for flow in given[:2]:
        assert isinstance(flow, Flow)
        flow.add_effect(Effect.CHANGED, "changed by a filter")
    with Recorder(files_at(tmp_path / "one.avro")) as recorder:
        for event in given:
            recorder(event)
    assert (recorder.events, recorder.dropped) == (22, 0)
    back = recorded(tmp_path / "one.avro")
    assert [type(one) for one in back] == [type(one) for one in given]
    for one, other in zip(given, back, strict=True):
        assert plain(other) == plain(one)


def test_a_folder_gets_numbered_files_and_two_recordings_have_two_ids(tmp_path: Path) -> None:
    ids = set()
    for stamp in ("A", "B"):
        files = CaptureFiles.numbered(tmp_path, stamp, now=0.0, size=1)
        with Recorder(files) as recorder:
            for flow in votes(3):
                flow.request_copy = bytes(BLOCK_SIZE)
                recorder(flow)
        ids.add(recorder.capture)
    assert len(ids) == 2
    assert len(list(tmp_path.glob("capture-A-*.avro"))) >= 3
    assert len(recorded(tmp_path)) == 6


def test_recordings_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    with Recorder(files_at(tmp_path)), Recorder(files_at(tmp_path)):
        assert len(list(tmp_path.glob(".capture-*-00000.avro.part"))) == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("night", "there is no folder {}/night: make it, or record to {}/night.avro"),
        ("night/one.avro", "there is no folder {}/night: make it first"),
    ],
)
def test_a_folder_that_is_not_there_is_not_taken_for_a_file(
    tmp_path: Path, name: str, said: str
) -> None:
    with pytest.raises(CannotRecord) as raised:
        files_at(tmp_path / name)
    assert str(raised.value) == said.format(tmp_path, tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_finds_no_room_is_counted_and_its_number_is_missing(tmp_path: Path) -> None:
    flows = votes(5)
    recorder = Recorder(files_at(tmp_path / "one.avro"), limit=2 * flows[0].weight)
    for flow in flows:  # before its thread runs
        recorder(flow)
    with recorder:
        pass
    assert (recorder.events, recorder.dropped) == (2, 3)


def test_only_what_is_meant_is_recorded_without_gaps_in_the_numbers(tmp_path: Path) -> None:
    flows = votes(6)
    said = Notice(connection=connection(), at=5.0, kind=NoticeKind.REFUSED, text="nobody")
    meant = parse("~api Vote & !request.cluster_id==other")
    for flow in flows[::2]:
        assert flow.request_copy
        body = VoteRequest(cluster_id="other")
        flow.request_copy = encode_request(body, 2, correlation_id=1, client_id="me")[4:]
        flow.request_size = len(flow.request_copy)
    path = tmp_path / "one.avro"
    with Recorder(files_at(path), only=meant) as recorder:
        for flow in flows:
            recorder(flow)
        recorder(said)
    assert recorder.events == 4
    numbers = [record.event for record in read_capture(path) if isinstance(record, CaptureRecord)]
    assert numbers == [0, 0, 1, 1, 2, 2, 3]


def test_of_long_frames_the_beginning_is_recorded_without_secrets(tmp_path: Path) -> None:
    flow = votes(1)[0]
    assert flow.request_copy
    flow.key, flow.version = 36, 2
    secret = SaslAuthenticateRequest(auth_bytes=b"\0me\0hunter2-hunter2")
    flow.request_copy = encode_request(secret, 2, correlation_id=1, client_id="me")[4:]
    flow.request_size = len(flow.request_copy)
    path = tmp_path / "one.avro"
    with Recorder(files_at(path), frame_limit=30) as recorder:
        recorder(flow)
    request, response = (
        record for record in read_capture(path) if isinstance(record, CaptureRecord)
    )
    assert request.frame == flow.request_copy.replace(secret.auth_bytes, bytes(19))[:30]
    assert (request.size, request.redaction) == (flow.request_size, MASKED_FIELDS)
    assert request.truncated == flow.request_size - 30
    assert response.size is not None
    assert response.size <= 30 or response.truncated


def test_a_full_disk_ends_the_recording_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    files = files_at(tmp_path / "one.avro")

    def full(now: float, *records: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    flows = votes(10)
    monkeypatch.setattr(files, "write", full)
    with Recorder(files, stopped=told.append) as recorder:
        for flow in flows:
            recorder(flow)
    recorder(flows[0])
    (sentence,) = told
    assert sentence.endswith("one.avro stopped: No space left on device; traffic goes on")


def test_half_a_flow_says_which_half_is_lost() -> None:
    (flow,) = votes(1)
    request, response = event_records(flow, 0, "c")
    (first,) = events([request])
    (second,) = events([response])
    assert isinstance(first, Flow)
    assert isinstance(second, Flow)
    assert first.problems == ["the response is lost from the capture"]
    assert second.problems == ["the request is lost from the capture"]
    assert DecodedFlow(second).response is not None
    assert summary(second) == summary(flow)


def summary(flow: Flow) -> tuple[str, int, int]:
    return flow.api, flow.version, flow.correlation_id


def test_a_time_range_is_half_open() -> None:
    given = votes(4)
    times = [flow.at for flow in given]
    assert list(within(given, Window(times[1], times[3]))) == given[1:3]
    assert list(within(given, Window())) == given


async def talk(address: Any) -> None:
    """Ask a controller a few things, a secret among them."""
    host, port = address.host, address.port
    config = AlterableConfig(name="sasl.jaas.config", value="hunter2")
    resource = AlterConfigsResource(resource_type=4, resource_name="1", configs=[config])
    async with await Client.open(host, port) as client:
        await client.send(quorum_request())
        await client.send(IncrementalAlterConfigsRequest(resources=[resource], validate_only=True))
        await asyncio.gather(*(client.send(quorum_request()) for _ in range(9)))


async def test_real_traffic_is_read_back_flow_for_flow(combined: Cluster, tmp_path: Path) -> None:
    ring = Ring()
    listener = Listener(node_id=1, upstream=kwire_address(combined.nodes[1].controller_address))
    with Recorder(files_at(tmp_path / "real.avro")) as recorder:
        async with Proxy([listener], sinks=[ring, recorder]) as proxy:
            await talk(proxy.addresses[listener])
    given, back = list(ring), recorded(tmp_path / "real.avro")
    assert len(given) == len(back) >= 14
    for one, other in zip(given, back, strict=True):
        if isinstance(one, Flow) and isinstance(other, Flow) and one.key == 44:
            assert b"hunter2" in (one.request_copy or b"")
            assert len(other.request_copy or b"") == one.request_size
            one.request_copy = other.request_copy
        assert plain(other) == plain(one)
    assert all(DecodedFlow(one).problems == () for one in back if isinstance(one, Flow))
    assert b"hunter2" not in (tmp_path / "real.avro").read_bytes()


def records_of(path: Path) -> list[CaptureRecord]:
    return [record for record in read_capture(path) if isinstance(record, CaptureRecord)]


def test_secrets_are_recorded_where_that_was_asked_for(tmp_path: Path) -> None:
    config = AlterableConfig(name="ssl.key.password", value="hunter2")
    resource = AlterConfigsResource(configs=[config])
    dialogue = Dialogue()
    dialogue.ask(asked(IncrementalAlterConfigsRequest(resources=[resource]), 1, 1))
    dialogue.hang_up()
    with Recorder(files_at(tmp_path / "one.avro"), show_secrets=True) as recorder:
        recorder(dialogue.flows[0])
    (record,) = records_of(tmp_path / "one.avro")
    assert b"hunter2" in (record.frame or b"")
    assert record.redaction is None
