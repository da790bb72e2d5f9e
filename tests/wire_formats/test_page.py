"""Every byte on docs/reference/wire-formats.md is what kwire writes, and what Kafka writes."""

from __future__ import annotations

import pytest

import real_kafka
import vectors
from kwire.codec.declaration import Message
from wire_formats.dump import Rows, walk
from wire_formats.encodings import encodings
from wire_formats.page import PAGE, block_names, filled
from wire_formats.specimens import DATA_BATCH, FRAMES, Frame, dumps, quorum_batch


def test_the_page_is_todays() -> None:
    page = PAGE.read_text()
    assert filled(page) == page, "run `python -m wire_formats`"


def test_the_page_shows_every_dump_once() -> None:
    assert sorted(block_names(PAGE.read_text())) == sorted(dumps() | encodings())


@pytest.mark.parametrize("name", FRAMES)
def test_rows_have_all_bytes_in_their_order(name: str) -> None:
    rows = FRAMES[name].rows()
    assert b"".join(row.data for row in rows.rows) == FRAMES[name].data
    assert rows.rows[0].offset == 0


def test_rows_that_leave_bytes_out_are_refused() -> None:
    body = FRAMES["add-raft-voter-response"].body
    rows = Rows(body.encode(1) + b"\x00")
    walk(rows, type(body).at(1))
    with pytest.raises(ValueError, match="not all bytes"):
        rows.text()


def test_a_dump_names_nested_fields_lengths_and_tags() -> None:
    lines = FRAMES["vote-response"].rows().text().splitlines()
    assert lines[0].split() == ["offset", "bytes", "field", "value"]
    fields = {line[32:].split("  ")[0].strip(): line for line in lines[1:]}
    assert fields["tag 0: size"].endswith("19 bytes")
    assert fields["node_endpoints[0].host"].endswith('"c1.example"')
    assert fields["topics[0].partitions[0].error_code"].endswith("74: FENCED_LEADER_EPOCH")


def parts(frame: Frame) -> list[tuple[type[Message], int, bytes]]:
    """Return header and body of a frame, each as a message with its version and bytes."""
    header, version = frame.header
    body = type(frame.body)
    content = frame.body.encode(frame.version)
    return [(header, version, frame.data[4 : -len(content)]), (body, frame.version, content)]


@pytest.mark.java
def test_kafkas_classes_write_the_same_bytes() -> None:
    with vectors.MessageJudge("3.9.1") as older, vectors.MessageJudge("4.3.1") as newer:
        for name, frame in FRAMES.items():
            judge = older if name == "controlled-shutdown-request" else newer
            for message, version, data in parts(frame):
                judgement = judge(message.__name__, version, data)
                assert judgement.exact, (name, message.__name__, judgement)


@pytest.mark.java
def test_kafka_reads_the_batches() -> None:
    data, quorum = vectors.judge_batches(real_kafka.VERSIONS[0], [DATA_BATCH, quorum_batch()])
    assert (data.error, quorum.error) == (None, None)
    assert [record.key for record in data.batches[0].records] == [b"order-17", b"order-16"]
    assert [record.control_type for record in quorum.batches[0].records] == [
        "SNAPSHOT_HEADER",
        "KRAFT_VERSION",
        "KRAFT_VOTERS",
    ]
