"""Measure the replay of partition changes by the metadata image.

    python benchmarks/image_replay.py [--partitions 100000] [--records 1000000]

Topics of 100 partitions each, then changes of leader and ISR all over them, then a walk over all of
them. CPU seconds of one process.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from random import Random
from resource import RUSAGE_SELF, getrusage
from uuid import UUID

from kwire.codec.declaration import MetadataRecord
from kwire.image import MetadataImage, apply
from kwire.messages.records.partition import PartitionRecord
from kwire.messages.records.partition_change import PartitionChangeRecord
from kwire.messages.records.topic import TopicRecord

EACH = 100
"""Partitions of one topic."""

KEPT = 100_000
"""Changes that are made; they come again where more are asked for."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--records", type=int, default=1_000_000)
    options = parser.parse_args()
    random = Random(1)
    ids = [UUID(int=random.getrandbits(128)) for _ in range(options.partitions // EACH)]
    image = MetadataImage()

    def replay(records: Iterator[MetadataRecord]) -> None:
        nonlocal image
        for record in records:
            image = apply(image, record)

    changes = changed(ids, options.records, random)
    seconds("created", lambda: replay(created(ids)))
    seconds("changed", lambda: replay(changes))
    seconds("walked", lambda: len(image.topics.partitions(lambda one: one.leader == 1)))
    print(f"peak {getrusage(RUSAGE_SELF).ru_maxrss // 1024} MB")  # noqa: T201


def seconds(what: str, work: Callable[[], object]) -> None:
    """Print the CPU time of some work."""
    gc.collect()
    start = time.process_time()
    work()
    print(f"{what} {time.process_time() - start:.2f} s")  # noqa: T201


def created(ids: list[UUID]) -> Iterator[MetadataRecord]:
    """Records of topics and their partitions."""
    for number, id in enumerate(ids):
        yield TopicRecord(name=f"topic-{number}", topic_id=id)
        for partition in range(EACH):
            yield PartitionRecord(
                partition_id=partition,
                topic_id=id,
                replicas=(1, 2, 3),
                isr=(1, 2, 3),
                leader=1,
            )


def changed(ids: list[UUID], count: int, random: Random) -> Iterator[MetadataRecord]:
    """Changes of random partitions, made before the first one is given."""
    made = [
        PartitionChangeRecord(
            topic_id=random.choice(ids),
            partition_id=random.randrange(EACH),
            leader=random.choice((1, 2, 3)),
            isr=(1, 2),
        )
        for _ in range(min(count, KEPT))
    ]
    return islice(cycle(made), count)


if __name__ == "__main__":
    main()
