"""The partitions of a topic, whether they are copied or shared by its images, are the same."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpds import HashTrieMap

from kwire.image import EMPTY, apply_all, topics
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.topic import TopicRecord

ID = UUID(int=7)
NUMBERS = st.integers(0, 9)
CHANGES = st.builds(
    PartitionChangeRecord,
    topic_id=st.just(ID),
    partition_id=NUMBERS,
    isr=st.none() | st.tuples(NUMBERS),
    leader=st.just(-2) | NUMBERS,
    eligible_leader_replicas=st.none() | st.tuples(NUMBERS),
)
CLEAR = st.just(ClearElrRecord(topic_name="t"))


def created(count: int) -> list[TopicRecord | PartitionRecord]:
    partitions = [
        PartitionRecord(topic_id=ID, partition_id=number, replicas=(1,), isr=(1,), leader=1)
        for number in range(count)
    ]
    return [TopicRecord(name="t", topic_id=ID), *partitions]


@given(st.lists(st.lists(CHANGES | CLEAR, max_size=4), max_size=4))
def test_both_are_the_same_after_all_changes(batches: list[list[PartitionChangeRecord]]) -> None:
    def replayed(copied: int) -> dict[int, object]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(topics, "_COPIED", copied)
            image = apply_all(EMPTY, created(10))
            befores = [(image, dict(image.topics.by_id[ID].partitions))]
            for batch in batches:
                image = apply_all(image, batch)
                befores.append((image, dict(image.topics.by_id[ID].partitions)))
        # No later change is seen in an image.
        assert all(dict(at.topics.by_id[ID].partitions) == then for at, then in befores)
        return dict(image.topics.by_id[ID].partitions)

    assert replayed(10) == replayed(9)


def test_those_of_a_topic_with_many_are_shared() -> None:
    few, many = (
        apply_all(EMPTY, created(count)).topics.by_id[ID].partitions
        for count in (topics._COPIED, topics._COPIED + 1)
    )
    assert (type(few), type(many)) == (dict, HashTrieMap)
    assert sorted(many) == list(range(topics._COPIED + 1))
