"""Messages drawn as trees, the record batches in them included."""

import io

import pytest
from rich.console import Console

from kwire.batches import Compression, Record, RecordHeader, build_batch
from kwire.batches.control_records import quorum_record
from kwire.batches.metadata_records import VersionedRecord
from kwire.cli.flows.record_tree import record_trees
from kwire.cli.flows.tree_screen import draw, leaf
from kwire.messages.a01_fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.records.topic import TopicRecord
from kwire.proxy.flows.tree import Tree, lines, message_tree
from tests.support.cli.command import Command


def text(trees: list[Tree]) -> str:
    return "\n".join(line for tree in trees for line in lines(tree))


def topic(name: str) -> bytes:
    return VersionedRecord(record=TopicRecord(name=name), version=0).encode()


def test_metadata_records_are_decoded() -> None:
    batch = build_batch([Record(value=topic("orders"))], base_offset=17, partition_leader_epoch=3)
    shown = text(record_trees(batch))
    assert "batch: offsets 17-17, format 2, leader epoch 3" in shown
    assert "offset 17: TopicRecord v0" in shown
    assert 'name: "orders"' in shown


def test_control_records_are_decoded() -> None:
    batch = build_batch([quorum_record(LeaderChangeMessage(leader_id=3002))], is_control=True)
    shown = text(record_trees(batch))
    assert "control" in shown
    assert "LEADER_CHANGE v0" in shown
    assert "leader_id: 3002" in shown


def test_a_users_records_are_shown_as_bytes() -> None:
    record = Record(key=b"k", value=topic("x"), headers=(RecordHeader(key="trace", value=b"1"),))
    shown = text(record_trees(build_batch([record], compression=Compression.ZSTD)))
    assert "zstd" in shown
    assert "key: 1 bytes: 6b" in shown
    assert 'header "trace": 1 bytes: 31' in shown
    assert "TopicRecord" not in shown


def test_a_batch_that_goes_on_elsewhere_and_one_that_is_broken_are_named() -> None:
    batch = build_batch([Record(value=b"a")])
    assert "20 bytes of a batch that goes on" in text(record_trees(batch + batch[:20]))
    broken = batch[:-1] + bytes([batch[-1] ^ 1])
    assert "unreadable: record batch, byte" in text(record_trees(batch + broken))


def test_a_batch_with_thousands_of_records_is_cut() -> None:
    shown = text(record_trees(build_batch([Record(value=b"a")] * 2000)))
    assert "more: records after the first 100" in shown


def test_a_record_with_thousands_of_headers_is_cut() -> None:
    record = Record(key=b"k", value=b"v", headers=(RecordHeader(key="h", value=b""),) * 200)
    shown = text(record_trees(build_batch([record])))
    assert shown.count("header ") == 100
    assert "more: headers after the first 100" in shown


def test_records_are_decoded_inside_a_message(kwire: Command) -> None:
    partition = PartitionData(records=build_batch([Record(value=topic("orders"))]))
    message = FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])
    data = message.encode(17).hex()
    run = kwire("decode", "--message", "FetchResponse", "--version", "17", data)
    assert "TopicRecord v0" in run.out


def test_small_structs_stand_on_one_line_and_apis_have_names() -> None:
    small = Tree(name="0", children=(Tree(name="api_key", value="80"), Tree(name="x", value="1")))
    out = io.StringIO()
    Console(file=out, width=100).print(draw(Tree(name="All", value="v1", children=(small,))))
    assert out.getvalue().splitlines()[1] == "└── 0  api_key=80 AddRaftVoter  x=1"


@pytest.mark.parametrize("key", ["9" * 5000, "٣", "-1"])
def test_what_is_no_key_of_an_api_is_shown_as_it_is(key: str) -> None:
    assert leaf(Tree(name="api_key", value=key)).plain == f"api_key: {key}"


def test_a_wide_struct_is_a_branch() -> None:
    wide = message_tree("Topic", TopicRecord(name="x" * 100), 0)
    out = io.StringIO()
    Console(file=out, width=200).print(draw(Tree(name="All", children=(wide,))))
    assert len(out.getvalue().splitlines()) == 4
