"""Examples of every message and version: the same bytes as Kafka's own classes write."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

import kwire
from engines import REDEFINED
from kwire.batches import read_batches
from kwire.codec.examples import BATCH, ExampleKind, examples
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.registry import all_messages
from vectors import MessageJudge, VectorsError

RELEASES = ("4.4.0", "4.3.1", "3.9.1")


def test_they_are_the_same_each_time_and_read_back() -> None:
    first, again = ([*examples(VoteRequest, 2)] for _ in range(2))
    assert first == again
    assert [kind for kind, _, _ in first] == [*ExampleKind]
    for _, instance, data in first:
        assert VoteRequest.decode(data, 2) == instance


def test_each_field_of_a_filled_one_has_a_value_of_its_own() -> None:
    (filled,) = (one for kind, one, _ in examples(VoteRequest, 2) if kind is ExampleKind.FILLED)
    assert isinstance(filled, VoteRequest)
    assert filled.cluster_id is not None
    (first, second), _ = (topic.partitions for topic in filled.topics)
    values = [*kwire.to_json(filled, 2)["topics"][0]["partitions"][0].values()]
    assert len({*values, True}) == len(values)
    assert first.last_offset != second.last_offset
    # The byte of the highest value is set, and is not that of the lowest.
    assert first.last_offset.to_bytes(8, "big")[0] == 1
    assert filled.cluster_id.encode() != filled.cluster_id.encode("latin-1")


def test_a_message_that_is_empty_has_one() -> None:
    cls = kwire.message("ListGroupsRequest")
    assert [data for _, _, data in examples(cls, 0)] == [b""]


def test_records_are_a_batch_that_can_be_read() -> None:
    ((record,),) = (batch.records() for batch in read_batches(BATCH))
    assert (record.key, record.value) == (b"key", b"value")


@pytest.mark.java
def test_kafkas_classes_read_them_write_the_same_and_print_the_same_json() -> None:
    """Of each message and version, by the newest release that has it."""
    pairs = [(cls, version) for cls in all_messages() for version in cls.versions]
    unknown, wrong = [], []
    with ExitStack() as stack:
        judges = [stack.enter_context(MessageJudge(release)) for release in RELEASES]
        for cls, version in pairs:
            judge = next((one for one in judges if has(one, cls, version)), None)
            if judge is None:
                unknown.append((cls.__name__, version))
                continue
            for kind, instance, data in examples(cls, version):
                judgement = judge(cls.__name__, version, data)
                json = kwire.to_json(instance, version, exact=False)
                if not judgement.exact or judgement.json != json:
                    wrong.append((judge.release, cls.__name__, version, kind.value))
    assert {one[:3] for one in wrong} <= REDEFINED, wrong
    assert not unknown


def has(judge: MessageJudge, cls: type[kwire.Message], version: int) -> bool:
    """Return True if a release has the message in a version."""
    try:
        judge(cls.__name__, version, b"")
    except VectorsError:
        return False
    return True
