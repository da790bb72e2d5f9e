"""A Streams application counts words while the active controller is killed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from tests.support.controller.live.application_cluster import (
    DEADLINE,
    Application,
    ApplicationCluster,
)
from tests.support.controller.live.tool_descriptions import Descriptions, cluster_steps, described
from tests.support.controller.live.tool_runner import ToolProcess

APPLICATION = "wordcount"
INPUT, OUTPUT = "lines", "counted"
PARTITIONS = {INPUT: 4, OUTPUT: 2}
CREATION = tuple(
    f"TopicCommand --create --topic {topic} --partitions {partitions}"
    for topic, partitions in PARTITIONS.items()
)
INTERNAL = (
    f"{APPLICATION}-words-repartition",
    f"{APPLICATION}-counts-changelog",
    "__consumer_offsets",
    "__transaction_state",
)
_VOCABULARY = (
    "acks",
    "batch",
    "commit",
    "epoch",
    "fence",
    "group",
    "isr",
    "leader",
    "offset",
    "voter",
)
_RANDOM = Random(1071)
LINES = [" ".join(_RANDOM.choices(_VOCABULARY, k=_RANDOM.randint(1, 7))) for _ in range(900)]
GROUP_STEPS = {
    "classic": tuple(
        f"consumer.group.ConsumerGroupCommand --describe --group {APPLICATION} {words}".strip()
        for words in ("", "--state", "--members --verbose")
    ),
    "streams": tuple(
        f"streams.StreamsGroupCommand --describe --group {APPLICATION} {words}".strip()
        for words in ("", "--offsets --verbose", "--state --verbose", "--members --verbose")
    ),
}
MASKS = ((re.compile(r"(-repartition \d+) [\d ]*\d"), r"\1 <offsets>"),)
"""Transactions end when it pleases the application, and the end of each has an offset."""
SETTLED = 3.0
"""Seconds without another record after which there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCountRun:
    """The counts of each word, in their order, and how Kafka's tools described the rest."""

    counts: Mapping[str, Sequence[int]]
    descriptions: Descriptions


def count_words(cluster: ApplicationCluster, protocol: str, folder: Path) -> WordCountRun:
    """Run the application of a group of that protocol in two processes, one after the other.

    1. The first process counts a third of the lines; its internal topics are created.
    2. The active controller is killed, the next third comes.
    3. A second process joins, and the first one leaves: the second restores the state.
    4. It counts the last third, and is described.
    """
    folder.mkdir()
    third = len(LINES) // 3
    words = [len(line.split()) for line in LINES]
    with ToolProcess() as tools:
        found = [*described(tools, cluster.servers, CREATION)]
        # 1.
        with _started(cluster, protocol, folder / "first") as first:
            first.until(_is_running)
            _produce(cluster.servers, 0, third)
            _counted(cluster.servers, sum(words[:third]) // 2)
            # 2.
            killed = cluster.kill_leader()
            _produce(cluster.servers, third, 2 * third)
            # 3.
            with _started(cluster, protocol, folder / "second") as second:
                second.until(_is_running)
                first.close()
                # 4.
                _produce(cluster.servers, 2 * third, len(LINES))
                counts = _counted(cluster.servers, sum(words), pause=SETTLED)
                second.until(_is_running)
                steps = [*cluster_steps(INTERNAL), *GROUP_STEPS[protocol]]
                found += described(tools, cluster.servers, steps, MASKS)
                second.close()
    assert cluster.leader() != killed
    return WordCountRun(counts=counts, descriptions=found)


def _started(cluster: ApplicationCluster, protocol: str, state: Path) -> Application:
    arguments = (cluster.servers, APPLICATION, protocol, str(state), INPUT, OUTPUT)
    return Application(state.with_suffix(".log"), "WordCount", *arguments)


def _is_running(states: list[str]) -> bool:
    return states[-1:] == ["RUNNING"]


def _produce(servers: str, start: int, stop: int) -> None:
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for number in range(start, stop):
        partition = number % PARTITIONS[INPUT]
        producer.produce(INPUT, LINES[number], key=str(number), partition=partition)
    assert producer.flush(DEADLINE) == 0


def _counted(servers: str, number: int, *, pause: float = 0) -> dict[str, list[int]]:
    """Read so many committed counts, and after ``pause`` seconds no more, of each word in order."""
    settings = {"bootstrap.servers": servers, "group.id": "-", "enable.auto.commit": False}
    counts = defaultdict[str, list[int]](list)
    with closing(Consumer({**settings, "isolation.level": "read_committed"})) as consumer:
        partitions = range(PARTITIONS[OUTPUT])
        consumer.assign([TopicPartition(OUTPUT, one, OFFSET_BEGINNING) for one in partitions])
        for read in range(number):
            message = consumer.poll(DEADLINE)
            assert message is not None, f"{read} of {number} counts came"
            assert message.error() is None, message.error()
            word, count = message.key(), message.value()
            assert word is not None
            assert count is not None
            counts[word.decode()].append(int(count))
        assert not pause or consumer.poll(pause) is None
    return dict(counts)
