"""Records that become an image together make the image that they make one by one."""

from random import Random
from uuid import UUID

import pytest

from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, MetadataDelta, MetadataImage, ReplayError, apply, apply_all
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.remove_topic import RemoveTopicRecord
from kwire.messages.records.topic import TopicRecord


def topic(number: int) -> TopicRecord:
    return TopicRecord(name=f"t{number}", topic_id=UUID(int=number))


def partition(topic: int, number: int, leader: int = 1) -> PartitionRecord:
    return PartitionRecord(
        topic_id=UUID(int=topic), partition_id=number, replicas=(1, 2), isr=(1, 2), leader=leader
    )


def change(topic: int, number: int, leader: int) -> PartitionChangeRecord:
    return PartitionChangeRecord(topic_id=UUID(int=topic), partition_id=number, leader=leader)


def history(seed: int) -> list[MetadataRecord]:
    """A few hundred records of topics that are created, changed and deleted."""
    random = Random(seed)
    records: list[MetadataRecord] = []
    alive: dict[int, int] = {}
    for number in range(1, 300):
        kind = random.random()
        if kind < 0.2 or not alive:
            records.append(topic(number))
            alive[number] = random.randrange(1, 4)
            records += [partition(number, index) for index in range(alive[number])]
            continue
        chosen = random.choice(list(alive))
        if kind < 0.9:
            records.append(change(chosen, random.randrange(alive[chosen]), random.randrange(1, 3)))
        elif kind < 0.95:
            records.append(
                ConfigRecord(resource_type=2, resource_name=f"t{chosen}", name="a", value="1")
            )
        else:
            del alive[chosen]
            records.append(RemoveTopicRecord(topic_id=UUID(int=chosen)))
    return records


@pytest.mark.parametrize("seed", range(5))
def test_gathered_or_one_by_one_the_image_is_the_same(seed: int) -> None:
    image: MetadataImage = EMPTY
    delta = MetadataDelta(EMPTY)
    for number, record in enumerate(history(seed)):
        image = apply(image, record)
        delta.replay(record)
        if number % 37 == 0:  # an image in the middle changes nothing of what comes after
            assert delta.image == image
    assert delta.image == image == apply_all(EMPTY, history(seed))


def test_an_image_stays_as_it_was() -> None:
    before = apply_all(EMPTY, [topic(1), partition(1, 0)])
    delta = MetadataDelta(before)
    shown = delta.image
    delta.replay(change(1, 0, 2))

    assert shown == before
    assert delta.image.topics.by_id[UUID(int=1)].partitions[0].leader == 2


@pytest.mark.parametrize(
    "records",
    [
        [topic(1), TopicRecord(name="t1", topic_id=UUID(int=2))],
        [partition(1, 0)],
        [topic(1), change(1, 0, 1)],
    ],
    ids=["a name twice", "no topic", "no partition"],
)
def test_what_does_not_fit_is_refused(records: list[MetadataRecord]) -> None:
    with pytest.raises(ReplayError):
        apply_all(EMPTY, records)
