"""FeatureCommand on clusters of mixed releases ends alike, whoever has the quorum.

KIP-584, KIP-778, KIP-853 (kraft.version), KIP-966, KIP-1022.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kwire.batches import read_batches
from kwire.batches.control_records import read_control_record
from kwire.batches.metadata_records import read_metadata_record
from kwire.controller.server.node import ControllerNode
from kwire.local_kafka.launcher import Launcher, Site
from kwire.local_kafka.node import KafkaNode, KnownQuorum
from kwire.local_kafka.running import RunningNode
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.no_op import NoOpRecord
from real_kafka import NodeFailed
from tests.support.controller.live.feature_steps import (
    CONTROLLERS,
    SERVERS,
    Line,
    mixed,
    replaced,
    stopped,
)
from tests.support.controller.live.java_nodes import QUICK_BROKER, segment
from tests.support.controller.live.static_controller import StaticJava, StaticKwire
from tests.support.controller.live.tool_runner import LATE, UNKNOWN_CLASS, ToolOutcome, ToolProcess

NEW, START = "4.4.0", "3.9-IV0"
QUIET = {"metadata.max.idle.interval.ms": "0"}
"""No NoOpRecord but those of UpdateFeatures."""
COMMAND = "org.apache.kafka.tools.FeatureCommand"
REFUSAL = re.compile(r"^((?:Could|Can) not (?:upgrade|downgrade|disable) \S+(?: to \d+)?\.) .*")
"""A line with the reason for which the controller refuses."""
PUBLISHED = 0.5
"""Seconds after which brokers have applied what the controller has acknowledged."""


@dataclass(slots=True, kw_only=True)
class FeatureHistory:
    """The outcome of each line, by its number and its words, and the records about features."""

    outcomes: dict[str, list[str]] = field(default_factory=dict)
    records: list[object] = field(default_factory=list)


class MixedBrokers:
    """Brokers of two releases that know one controller."""

    def __init__(self, kafka: Launcher, quorum: KnownQuorum, older: str) -> None:
        self._quorum = quorum
        self._sites = {release: kafka.site(release, lambda text: None) for release in (older, NEW)}
        self.replaced, self.successor = self._broker(1, older), self._broker(1, NEW)
        self.stays, self.latecomer = self._broker(2, NEW), self._broker(3, older)

    def _broker(self, id: int, release: str) -> RunningNode:
        site: Site = self._sites[release]
        machine = site.machine(id)
        node = KafkaNode(
            node_id=id,
            roles=("broker",),
            listeners=site.listeners(id, ("broker",)),
            quorum=self._quorum,
            folder=machine.folder,
            properties=QUICK_BROKER,
        )
        return RunningNode(node, machine, lambda text: None)

    def close(self) -> None:
        for site in self._sites.values():
            site.close()


def play(brokers: MixedBrokers, history: FeatureHistory) -> None:
    """Run the command while a broker is old, is down, and is new.

    At the end a broker of the old release wants to join, and ends.
    """
    for node in (brokers.replaced, brokers.stays):
        node.start()
    brokers.stays.wait_until_it_lists(2)
    with ToolProcess(newest_features=True) as tools:
        controller = brokers.stays.quorum_bootstrap
        places = {SERVERS: str(brokers.stays.broker_address), CONTROLLERS: controller}
        _run(tools, places, mixed(), history)
        brokers.replaced.stop()
        _run(tools, places, stopped(), history)
        brokers.successor.start()
        brokers.stays.wait_until_it_lists(2)
        _run(tools, places, replaced(), history)
    brokers.latecomer.configure({"initial.broker.registration.timeout.ms": "5000"})
    with pytest.raises(NodeFailed, match="ended with"):
        brokers.latecomer.start()
    assert "returned error UNSUPPORTED_VERSION" in brokers.latecomer.log()


def _run(
    tools: ToolProcess, places: dict[str, str], lines: Iterable[Line], history: FeatureHistory
) -> None:
    for place, words in lines:
        if words == "describe":
            time.sleep(PUBLISHED)
        outcome = tools.run(COMMAND, place, places[place], *words.split())
        assert outcome.code not in (LATE, UNKNOWN_CLASS), words
        name = f"{len(history.outcomes)}. {place} {words}"
        history.outcomes[name] = comparable(outcome, any_range=place == SERVERS)


def comparable(outcome: ToolOutcome, *, any_range: bool) -> list[str]:
    """Return exit code and lines, but for three things:

    1. the reason why the controller refuses, which is each side's own sentence;
    2. the epoch of the levels, which is an offset;
    3. the highest levels, where one of several brokers answers, whichever the tool chooses.
    """
    lines = [f"exit {outcome.code}", *outcome.printed.splitlines(), *outcome.failed.splitlines()]
    # 1.
    lines = [REFUSAL.sub(r"\1", line) for line in lines]
    # 2.
    lines = [re.sub(r"\s+Epoch: \d+.*", "", line) for line in lines]
    # 3.
    return [re.sub(r"SupportedMaxVersion: \S+", "", line) if any_range else line for line in lines]


def written(data: Path) -> Iterator[object]:
    """Yield the records about features: whole, with their versions; of control records the type."""
    for batch in read_batches(segment(data).read_bytes()):
        for record in batch.records():
            if batch.is_control:
                yield type(read_control_record(record).message).__name__
                continue
            metadata = read_metadata_record(record.value or b"")
            if isinstance(metadata.record, FeatureLevelRecord | ConfigRecord | NoOpRecord):
                yield metadata


async def with_kwire(kafka: Launcher, folder: Path, older: str) -> FeatureHistory:
    kwire = StaticKwire(folder, START, QUIET)
    brokers = MixedBrokers(kafka, kwire.quorum, older)
    history = FeatureHistory()
    async with AsyncExitStack() as after:
        await after.enter_async_context(ControllerNode(kwire.config))
        after.push_async_callback(asyncio.to_thread, brokers.close)
        await asyncio.to_thread(play, brokers, history)
    history.records = list(written(kwire.data))
    return history


def with_kafka(kafka: Launcher, older: str) -> FeatureHistory:
    site = kafka.site(NEW, lambda text: None)
    history = FeatureHistory()
    try:
        java = StaticJava(site, START, QUIET)
        brokers = MixedBrokers(kafka, java.quorum, older)
        try:
            java.node.start()
            play(brokers, history)
        finally:
            brokers.close()
        history.records = list(written(java.data))
    finally:
        site.close()
    return history


@pytest.mark.long
@pytest.mark.parametrize("older", ["4.3.1", "3.9.1"])
async def test_feature_command_ends_alike_on_clusters_of_two_releases(
    kafka: Launcher, tmp_path: Path, older: str
) -> None:
    ours = await with_kwire(kafka, tmp_path, older)
    theirs = await asyncio.to_thread(with_kafka, kafka, older)

    differing = {
        step: (lines, theirs.outcomes.get(step))
        for step, lines in ours.outcomes.items()
        if lines != theirs.outcomes.get(step)
    }
    assert differing == {}
    assert len(ours.outcomes) > LINES
    assert ours.records == theirs.records
    refused = [name for name, lines in ours.outcomes.items() if lines[0] == "exit 1"]
    assert len(refused) > REFUSED


LINES, REFUSED = 60, 30
