"""Whatever a request says, it is answered, and what is written of it can be read again."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kwire.batches.metadata_records import read_metadata_record
from kwire.codec.declaration import Request
from kwire.controller.handlers.registry import HANDLERS, Handler
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.partition import NO_LEADER, PartitionRegistration
from kwire.image.replay import REPLAYS
from kwire.messages.records.abort_transaction import AbortTransactionRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord
from kwire.messages.records.unregister_controller import UnregisterControllerRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from tests.support.controller.handlers.lab import CLUSTER, Lab
from tests.support.controller.random_log import ask, played, random_lab
from tests.support.controller.random_requests import RandomRequests, texts
from tests.support.controller.same_image import differences
from tests.support.seed import SEED

VALUES = (None, "", "foo", "\udcff", "x" * 32767)
TRIES = 40
NEVER_WRITTEN = {
    FenceBrokerRecord,
    UnfenceBrokerRecord,
    ZkMigrationStateRecord,
    AbortTransactionRecord,
    UnregisterControllerRecord,
}
"""Records that no request to one controller leads to, at the default metadata.version."""


def with_each_text(handler: Handler, version: int, lab: Lab) -> Iterator[Request]:
    """Yield usual requests, in each of which one string has one of the values."""
    requests = RandomRequests(Random(f"{SEED} {handler.key} {version}"), CLUSTER)
    found: dict[Any, int] = {}
    for _ in range(TRIES):
        drawn = requests.draw(handler.request, version, lab.image, 0.0)
        for group, name, is_nullable in texts(drawn, version):
            values = VALUES if is_nullable else VALUES[1:]
            number = found.setdefault((type(group), name), 0)
            if number < len(values):
                found[type(group), name] += 1
                setattr(group, name, values[number])
                yield drawn
                break


def impossible(image: MetadataImage) -> Iterator[tuple[str, PartitionRegistration]]:
    """Yield the partitions that cannot be, such as one whose ISR is outside of its replicas."""
    for topic in image.topics.by_id.values():
        for partition in topic.partitions.values():
            replicas = set(partition.replicas)
            moving = {*partition.adding_replicas, *partition.removing_replicas}
            is_possible = (
                replicas >= moving | {*partition.isr, *partition.elr}
                and len(replicas) == len(partition.replicas) == len(partition.directories)
                and len(set(partition.isr)) == len(partition.isr)
                and not set(partition.isr) & set(partition.elr)
                and partition.leader in (NO_LEADER, *partition.isr)
            )
            if not is_possible:
                yield topic.name, partition


@pytest.mark.parametrize("handler", HANDLERS.values(), ids=lambda handler: handler.request.__name__)
def test_every_string_may_be_null_empty_or_anything(handler: Handler) -> None:
    lab = random_lab()
    for version in handler.versions:
        for request in with_each_text(handler, version, lab):
            ask(lab, request, version)


def test_what_random_requests_write_can_be_read_again() -> None:
    lab = played(SEED, 300)

    written = [read_metadata_record(record.encode()) for record in lab.log]
    assert written == lab.log
    assert apply_all(EMPTY, written) == lab.image
    assert differences(apply_all(EMPTY, lab.image.records()), lab.image) == []
    assert list(impossible(lab.image)) == []


@pytest.mark.nightly
def test_no_random_request_makes_a_handler_fail(subtests: pytest.Subtests) -> None:
    written: set[type] = set()
    for seed in range(SEED, SEED + 300):
        with subtests.test(f"KWIRE_SEED={seed}"):
            lab = played(seed, 300)
            written.update(type(record.record) for record in lab.log)
            assert differences(apply_all(EMPTY, lab.image.records()), lab.image) == []
            assert list(impossible(lab.image)) == []
    assert REPLAYS.keys() - written == NEVER_WRITTEN
