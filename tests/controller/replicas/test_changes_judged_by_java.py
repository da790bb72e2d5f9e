"""Random changes of partitions: Kafka's PartitionChangeBuilder and kwire's write the same bytes."""

from __future__ import annotations

from random import Random
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import asdict

import vectors
from kwire.controller.replicas.partition_change_builder import Election, PartitionChangeBuilder
from kwire.image.partition import NO_LEADER, RECOVERED, RECOVERING, PartitionRegistration
from kwire.messages.metadata_versions import MetadataVersion
from tests.support.seed import SEED

pytestmark = pytest.mark.java

BROKERS = (0, 1, 2, 3, 4, 7, 9, 12, 15)
"""Java writes an ELR in the order of a HashSet, which is ascending for ids below 16."""


def some(random: Random, ids: tuple[int, ...], most: int | None = None) -> tuple[int, ...]:
    """Return some of the ids in any order, often none."""
    most = len(ids) if most is None else min(most, len(ids))
    return tuple(random.sample(ids, random.randint(0, most)))


def random_partition(random: Random, with_elr: bool) -> PartitionRegistration:
    replicas = tuple(random.sample(BROKERS, random.randint(1, 6)))
    isr = some(random, replicas) if with_elr else some(random, replicas) or replicas
    outside = tuple(replica for replica in replicas if replica not in isr)
    elr = some(random, outside) if with_elr else ()
    last_known = some(random, replicas, random.choice((0, 1, 3))) if with_elr else ()
    is_reassigning = random.random() < 0.3
    return PartitionRegistration(
        replicas=replicas,
        directories=tuple(UUID(int=1000 + replica) for replica in replicas),
        isr=isr,
        elr=elr,
        last_known_elr=last_known,
        leader=random.choice((*isr, NO_LEADER)),
        leader_recovery_state=random.choice((RECOVERED, RECOVERED, RECOVERING)),
        removing_replicas=some(random, replicas, 2) if is_reassigning else (),
        adding_replicas=some(random, replicas, 2) if is_reassigning else (),
    )


def random_change(random: Random) -> dict[str, Any]:
    elr = random.random() < 0.7
    level = random.choice((23, 25, 30)) if elr else random.choice((7, 11, 12, 17, 22, 30))
    partition = random_partition(random, elr or (level == 30 and random.random() < 0.5))
    brokers = tuple(dict.fromkeys((*partition.replicas, *random.sample(BROKERS, 2))))
    isr = tuple(replica for replica in partition.isr if random.random() < 0.6)
    more = tuple(replica for replica in partition.replicas if random.random() < 0.2)
    return {
        "partition": partition,
        "acceptable": some(random, brokers) if random.random() < 0.8 else brokers,
        "level": level,
        "elr": elr,
        "min_isr": random.randint(1, 4),
        "election": random.choice(("PREFERRED", "ONLINE", "UNCLEAN")),
        "last_known": random.random() < 0.7,
        "unclean_shutdown": some(random, partition.replicas, 2),
        "isr": random.choice((None, isr, tuple(dict.fromkeys((*isr, *more))))),
        "replicas": random.choice((None, None, brokers)),
        "removing": random.choice((None, None, (), some(random, partition.replicas, 2))),
        "adding": random.choice((None, None, ())),
        "recovery": random.choice((None, None, RECOVERED)),
    }


def record(change: dict[str, Any]) -> bytes | None:
    built = PartitionChangeBuilder(
        partition=change["partition"],
        topic_id=UUID(int=99),
        partition_id=0,
        acceptable=lambda replica: replica in change["acceptable"],
        metadata_version=MetadataVersion(change["level"]),
        default_directory=lambda replica: UUID(int=5000 + replica),
        election=Election[change["election"]],
        eligible_leader_replicas_enabled=change["elr"],
        min_isr=change["min_isr"],
        unclean_shutdown_replicas=change["unclean_shutdown"],
        use_last_known_leader_in_balanced_recovery=change["last_known"],
        isr=change["isr"],
        replicas=change["replicas"],
        removing=change["removing"],
        adding=change["adding"],
        leader_recovery_state=change["recovery"],
        bumps_leader_epochs=change.get("zk_migration", False),
    ).build()
    return None if built is None else built.encode()


def question(change: dict[str, Any]) -> dict[str, object]:
    fields = asdict(change["partition"])
    fields["directories"] = [directory.int for directory in fields["directories"]]
    return {**change, "partition": fields}


@pytest.mark.parametrize("release", ["4.3.1", "4.4.0"])
def test_random_changes_are_written_alike(release: str) -> None:
    random = Random(SEED)
    written = 0
    with vectors.PartitionChangeJudge(release) as kafka:
        for _ in range(6000):
            change = random_change(random)
            theirs = kafka(question(change))
            assert record(change) == theirs, (SEED, change)
            written += theirs is not None
    assert written > 3000


def test_brokers_with_zookeeper_get_a_higher_leader_epoch_where_kafkas_do() -> None:
    """An ISR that shrinks bumps it at every level (KIP-866).

    Kafka 3.9 and 4 differ in some changes; where they agree, they agree for such brokers, too.
    """
    random = Random(SEED)
    levels = (8, 11, 12, 14, 17, 21)
    compared = bumped = 0
    with vectors.PartitionChangeJudge("3.9.1") as kafka:
        for _ in range(4000):
            change = random_change(random)
            if change["elr"] or change["level"] == 30:
                continue
            change["level"] = random.choice(levels)
            without = record(change)
            if without != kafka(question(change)):
                continue
            change["zk_migration"] = True
            assert record(change) == kafka(question(change)), (SEED, change)
            compared += 1
            bumped += record(change) != without
    assert compared > 500
    assert bumped > 20
