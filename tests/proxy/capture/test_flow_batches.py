"""Flows that are encoded many in one call are recorded as those that are looked at one by one."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest

from kwire.capture import CaptureRecord, read_capture
from kwire.capture.file import BLOCK_SIZE
from kwire.messages.index import APIS
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.messages.registry import api_key
from kwire.proxy import Flow, Notice, NoticeKind, Outcome
from kwire.proxy.capture.flow_batches import LONG, FlowBatchEncoder, Stamped
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.capture.redaction import SECRET_APIS
from tests.support.capture.native import attack
from tests.support.eventually import eventually_blocking
from tests.support.proxy.dialogue import connection
from tests.support.proxy.flows.dialogue_flows import votes
from tests.support.seed import SEED

NUMBER = 2**40


def plain_flow(key: int = 52, request: bytes = b"request", response: bytes = b"response") -> Flow:
    return Flow(
        connection(),
        key,
        2,
        7,
        "raft-client-1",
        1_795_246_073.056,
        123.456,
        len(request),
        answered=123.457,
        response_size=len(response),
        request_copy=request,
        response_copy=response,
        outcome=Outcome.ANSWERED,
    )


def is_encoded(flow: Flow) -> bool:
    _, left = FlowBatchEncoder(attack.CAPTURE).encode(deque([flow]), 0)
    return left is None


def test_flows_of_all_kinds_get_the_bytes_of_the_reference() -> None:
    encoded, left = attack.drawn(SEED, 600)
    assert encoded > 100
    assert left > 50


def test_flows_that_nothing_makes_are_left_to_the_reference() -> None:
    encoded, left = attack.spoilt(SEED, 600)
    assert encoded > 50
    assert left > 100


def test_flows_may_change_while_they_are_encoded() -> None:
    assert attack.changed(SEED, 300) >= 300


def test_an_encoder_that_refers_to_itself_is_collected() -> None:
    assert attack.collected(3) == 3


@pytest.mark.parametrize("key", sorted(APIS))
def test_no_flow_that_may_hold_a_secret_is_encoded_unseen(key: int) -> None:
    assert is_encoded(plain_flow(key)) == (
        key not in SECRET_APIS and key != api_key("FetchSnapshot")
    )


@pytest.mark.parametrize("mark", [b"__cluster_metadata", METADATA_TOPIC_ID.bytes])
def test_a_fetch_of_the_metadata_log_is_left_to_be_masked(mark: bytes) -> None:
    fetch = api_key("Fetch")
    assert is_encoded(plain_flow(fetch))
    assert not is_encoded(plain_flow(fetch, request=b"x" + mark))
    assert not is_encoded(plain_flow(fetch, response=b"x" * 100 + mark))


def test_a_batch_has_about_a_block_of_records() -> None:
    queue: deque[Flow | Stamped] = deque(plain_flow(response=bytes(1000)) for _ in range(1000))
    batch, event = FlowBatchEncoder(attack.CAPTURE).encode(queue, 0)
    (records,) = map(attack.whole, batch.records)
    assert BLOCK_SIZE <= len(records) < BLOCK_SIZE + 2000
    assert event is None
    assert len(queue) == 1000 - batch.flows


def test_numbers_behind_a_gap_are_those_of_their_events(tmp_path: Path) -> None:
    flows, path = votes(6), tmp_path / "one.avro"
    recorder = Recorder(files_at(path), limit=2 * flows[0].weight)
    for flow in flows[:4]:  # before its thread runs: two find no room
        recorder(flow)
    with recorder:
        eventually_blocking(lambda: recorder.events == 2)
        recorder(flows[4])
        recorder(flows[5])
    assert (recorder.events, recorder.dropped) == (4, 2)
    records = [record for record in read_capture(path) if isinstance(record, CaptureRecord)]
    assert [record.event for record in records] == [0, 0, 1, 1, 4, 4, 5, 5]


def test_short_and_long_flows_and_notices_stay_in_their_order(tmp_path: Path) -> None:
    said = Notice(connection=connection(), at=5.0, kind=NoticeKind.REFUSED, text="nobody")
    path = tmp_path / "one.avro"
    with Recorder(files_at(path)) as recorder:
        for number in range(50):
            recorder(plain_flow(request=bytes(number)))
            recorder(plain_flow(response=bytes(LONG * (number % 3))))  # the last of them is long
            recorder(said)
    records = [record for record in read_capture(path) if isinstance(record, CaptureRecord)]
    assert [record.event for record in records] == [
        event
        for first in range(0, 150, 3)
        for event in (first, first, first + 1, first + 1, first + 2)
    ]
