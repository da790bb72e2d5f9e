"""FeatureCommand on clusters of mixed releases ends alike, whoever has the quorum.

KIP-584, KIP-778, KIP-853 (kraft.version), KIP-966, KIP-1022.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from kwire.batches import read_batches
from kwire.batches.control_records import read_control_record
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.controller.server.node import ControllerNode
from kwire.messages.metadata_versions import LATEST_PRODUCTION, METADATA_VERSION
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.no_op import NoOpRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from kwire.testing.local_kafka.launcher import Site
from kwire.testing.local_kafka.node import KafkaNode, KnownQuorum
from kwire.testing.local_kafka.running import RunningNode
from real_kafka import NodeFailed
from real_kafka.choice import Launcher
from tests.support.controller.live.feature_steps import (
    CONTROLLERS,
    SERVERS,
    Line,
    held_back,
    mixed,
    replaced,
    stopped,
)
from tests.support.controller.live.java_nodes import QUICK_BROKER, segment
from tests.support.controller.live.static_controller import StaticJava, StaticKwire
from tests.support.controller.live.tool_runner import LATE, UNKNOWN_CLASS, ToolOutcome, ToolProcess
from tests.support.eventually import eventually_blocking

NEW, START = "4.4.0", "3.9-IV0"
OBSERVER = 3001
QUIET = {"metadata.max.idle.interval.ms": "0"}
"""No NoOpRecord but those of UpdateFeatures."""
RAISED = " upgrade --release-version 4.4"
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


class MixedNodes:
    """Brokers of two releases, and controllers that do not vote, beside one that does.

    data: the folder of that one's log.
    """

    def __init__(self, kafka: Launcher, quorum: KnownQuorum, data: Path, older: str) -> None:
        self._quorum, self.data = quorum, data
        self._sites = {release: kafka.site(release, lambda text: None) for release in (older, NEW)}
        self.replaced, self.successor = self._broker(1, older), self._broker(1, NEW)
        self.stays, self.latecomer = self._broker(2, NEW), self._broker(3, older)
        self.observers = [self._observer(release) for release in (older, NEW)]

    def _broker(self, id: int, release: str) -> RunningNode:
        return self._node(id, "broker", release, self._quorum, QUICK_BROKER)

    def _observer(self, release: str) -> RunningNode:
        # It has to find dynamic voters, which they are once kraft.version is 1.
        return self._node(OBSERVER, "controller", release, replace(self._quorum, static=False), {})

    def _node(
        self, id: int, role: str, release: str, quorum: KnownQuorum, more: Mapping[str, str]
    ) -> RunningNode:
        site: Site = self._sites[release]
        machine = site.machine(id)
        node = KafkaNode(
            node_id=id,
            roles=(role,),
            listeners=site.listeners(id, (role,)),
            quorum=quorum,
            folder=machine.folder,
            properties=more,
        )
        return RunningNode(node, machine, lambda text: None)

    def until_registered(self, *, new: bool) -> None:
        """Wait until the observer has registered with the levels of its release."""

        def registered() -> bool:
            highest = [
                feature.max_supported_version
                for written in metadata_records(self.data)
                if isinstance(record := written.record, RegisterControllerRecord)
                and record.controller_id == OBSERVER
                for feature in record.features
                if feature.name == METADATA_VERSION
            ]
            return bool(highest) and (highest[-1] >= LATEST_PRODUCTION) is new

        eventually_blocking(registered, timeout=120, pause=0.3, report=lambda: f"{new=}")

    def close(self) -> None:
        for site in self._sites.values():
            site.close()


def play(nodes: MixedNodes, history: FeatureHistory) -> None:
    """Run the command while a broker is old, is down, and is new, and a controller is old and new.

    At the end a broker of the old release wants to join, and ends.
    """
    for node in (nodes.replaced, nodes.stays):
        node.start()
    nodes.stays.wait_until_it_lists(2)
    with ToolProcess(newest_features=True) as tools:
        controller = nodes.stays.quorum_bootstrap
        places = {SERVERS: str(nodes.stays.broker_address), CONTROLLERS: controller}
        _run(tools, places, mixed(), history)
        nodes.replaced.stop()
        _run(tools, places, stopped(), history)
        nodes.successor.start()
        nodes.stays.wait_until_it_lists(2)
        phases = ((False, held_back()), (True, replaced()))
        for observer, (new, lines) in zip(nodes.observers, phases, strict=True):
            observer.start()
            nodes.until_registered(new=new)
            _run(tools, places, lines, history)
            observer.stop()
    nodes.latecomer.configure({"initial.broker.registration.timeout.ms": "5000"})
    with pytest.raises(NodeFailed, match="ended with"):
        nodes.latecomer.start()
    assert "returned error UNSUPPORTED_VERSION" in nodes.latecomer.log()


def _run(
    tools: ToolProcess, places: dict[str, str], lines: Iterable[Line], history: FeatureHistory
) -> None:
    for place, words in lines:
        if words == "describe":
            time.sleep(PUBLISHED)
        outcome = tools.run(COMMAND, place, places[place], *words.split())
        assert outcome.code not in (LATE, UNKNOWN_CLASS), words
        name = f"{len(history.outcomes)}. {place} {words}"
        history.outcomes[name] = comparable(outcome)


def comparable(outcome: ToolOutcome) -> list[str]:
    """Return exit code and lines, but for two things:

    1. the reason why the controller refuses, which is each side's own sentence;
    2. the epoch of the levels, which is an offset.
    """
    lines = [f"exit {outcome.code}", *outcome.printed.splitlines(), *outcome.failed.splitlines()]
    # 1.
    lines = [REFUSAL.sub(r"\1", line) for line in lines]
    # 2.
    return [re.sub(r"\s+Epoch: \d+.*", "", line) for line in lines]


def metadata_records(data: Path) -> Iterator[VersionedRecord]:
    """Yield the records of a log that are no control records."""
    for batch in read_batches(segment(data).read_bytes()):
        if not batch.is_control:
            for record in batch.records():
                yield read_metadata_record(record.value or b"")


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
    nodes = MixedNodes(kafka, kwire.quorum, kwire.data, older)
    history = FeatureHistory()
    async with AsyncExitStack() as after:
        await after.enter_async_context(ControllerNode(kwire.config))
        after.push_async_callback(asyncio.to_thread, nodes.close)
        await asyncio.to_thread(play, nodes, history)
    history.records = list(written(kwire.data))
    return history


def with_kafka(kafka: Launcher, older: str) -> FeatureHistory:
    site = kafka.site(NEW, lambda text: None)
    history = FeatureHistory()
    with ExitStack() as after:
        after.callback(site.close)
        java = StaticJava(site, START, QUIET)
        nodes = MixedNodes(kafka, java.quorum, java.data, older)
        after.callback(nodes.close)
        java.node.start()
        play(nodes, history)
        history.records = list(written(java.data))
    return history


@pytest.mark.nightly
@pytest.mark.parametrize("older", ["4.3.1", pytest.param("3.9.1", marks=pytest.mark.releases)])
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
    assert ours.records == theirs.records
    release = [lines[0] for name, lines in ours.outcomes.items() if name.endswith(RAISED)]
    # Refused while a node of the older release is registered, and then carried out, twice.
    assert release == ["exit 1"] * 5 + ["exit 0"] * 2
