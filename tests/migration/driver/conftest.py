"""Kafka's own migration classes, in one Java process for all tests that ask them; and drivers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from migrating.migration_judge import MigrationJudge
from tests.support.migration.driver.driver_dialogue import (
    READY,
    DriverDialogue,
    zookeeper_cluster,
)


@pytest.fixture(scope="session")
def judge() -> Iterator[MigrationJudge]:
    with MigrationJudge() as judge:
        yield judge


@pytest.fixture
def dialogue() -> DriverDialogue:
    return DriverDialogue(zookeeper_cluster(1, 2, 3))


@pytest.fixture
def dual_writing(dialogue: DriverDialogue) -> DriverDialogue:
    """A driver in DUAL_WRITE, whose image is at offset 100."""
    dialogue.start().lead().publish(*READY, at=100)
    assert dialogue.state == "DUAL_WRITE"
    return dialogue
