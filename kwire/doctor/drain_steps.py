"""The steps that take brokers out of a cluster for good, in an order in which each of them ends."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection

from kwire.doctor.finding import GONE, Fix, fix
from kwire.image import MetadataImage
from kwire.image.partition import NO_LEADER, PartitionRegistration
from kwire.text.phrases import count

LOSES = ", which loses the records that nobody else has"


def drained(
    image: MetadataImage, ids: Collection[int], *flags: str, elected: bool = False
) -> list[str]:
    """Return the steps that move all replicas off these brokers.

    1. Each partition needs as many live brokers as it has replicas.
    2. A partition without a leader copies nothing, and nobody waits for it here. elected: True if
       all have leaders by then.

    flags: of `apply`.
    """
    gone = frozenset(ids)
    if not elected and any(part.leader == NO_LEADER for _, part in _listing(image, gone, target)):
        flags = (*flags, "--no-wait")
    live = [id for id in image.cluster.brokers if image.cluster.is_active(id) and id not in gone]
    most = max((len(target(part)) for _, part in _listing(image, gone, target)), default=0)
    ordered = [str(broker) for broker in sorted(gone)]
    file = f"drain-{'-'.join(ordered)}.json"
    plan = " ".join(f"--drain {broker}" for broker in ordered)
    return [
        *([f"start {count(most - len(live), 'further broker')}"] if most > len(live) else []),
        f"kwire partitions reassign plan {plan} --out {file}",
        " ".join(("kwire partitions reassign apply", file, *flags)),
    ]


def gone_for_good(image: MetadataImage, ids: Collection[int]) -> Fix:
    """Return the fix for brokers that never come back.

    1. Move the replicas to live brokers.
    2. Elect new replicas, which are empty, where no old one lives.
    3. End the moves that such an election leaves behind: see `partitions/move-stuck`.
    4. Have the controller forget the brokers.
    """
    gone = frozenset(ids)
    listing = _listing(image, gone, lambda part: part.replicas)
    dead = [name for name, part in listing if part.leader == NO_LEADER]
    steps = []
    if (listing and not dead) or _listing(image, gone, target):
        # 1.
        steps += drained(image, gone)
    if dead:
        # 2. and 3.
        elect = f"kwire partitions elect {' '.join(dead)} --unclean"
        steps += [elect, *drained(image, gone, elected=True)[-2:]]
    # 4.
    if registered := sorted(gone & set(image.cluster.brokers)):
        steps.append(f"kwire brokers unregister {' '.join(map(str, registered))}")
    return fix(*steps, when=GONE + (LOSES if dead else ""))


def _listing(
    image: MetadataImage,
    ids: frozenset[int],
    replicas: Callable[[PartitionRegistration], Collection[int]],
) -> list[tuple[str, PartitionRegistration]]:
    """Return the partitions, by their names, whose `replicas` have one of these brokers."""
    return [
        (partition_text(topic.name, number), part)
        for topic, number, part in image.topics.partitions(
            lambda part: not ids.isdisjoint(replicas(part))
        )
    ]


def target(part: PartitionRegistration) -> list[int]:
    """Return the replicas that a partition has after its move; without one those that it has."""
    return [broker for broker in part.replicas if broker not in part.removing_replicas]


def partition_text(topic: str, number: int) -> str:
    """Return `orders-3` for a shell: nothing keeps odd names out of a metadata log."""
    return shlex.quote(f"{topic}-{number}")
