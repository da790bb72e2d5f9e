"""A share group settles numbers while the active controller is killed (KIP-932)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Producer

from tests.support.controller.live.application_cluster import (
    DEADLINE,
    Application,
    ApplicationCluster,
)
from tests.support.controller.live.tool_descriptions import Descriptions, cluster_steps, described
from tests.support.controller.live.tool_runner import ToolProcess
from tests.support.controller.live.tool_step import CONFIGS
from tests.support.eventually import eventually_blocking

GROUP = "settlers"
EARLY, LATE = "early", "late"
PARTITIONS = 3
NUMBERS = range(1, 401)
BEFORE, MEANWHILE = 200, 300
"""The numbers up to which the first topic has them before and after the controller is killed."""
SHARE_GROUPS = "consumer.group.ShareGroupCommand"
RUNNING = tuple(
    f"{SHARE_GROUPS} --describe --group {GROUP} {words}".strip()
    for words in ("", "--offsets --verbose", "--state --verbose", "--members --verbose")
)
MASKS = (
    (re.compile(rf"^({GROUP} \w+ \d)( 0)? \d+ (\d+)$"), r"\1\2 <start> \3"),
    (re.compile(rf"\d \d+ {EARLY}:\d[\d,]*;{LATE}:\d[\d,]*"), "<partitions of both topics>"),
)
"""Start offsets, which are written some time after the acknowledgements, and assignments."""
AFTERWARDS = (
    f"{SHARE_GROUPS} --list",
    f"{SHARE_GROUPS} --describe --group {GROUP} --state",
    f"{SHARE_GROUPS} --reset-offsets --group {GROUP} --topic {EARLY} --to-earliest --execute",
    f"{SHARE_GROUPS} --delete-offsets --group {GROUP} --topic {LATE}",
    f"{SHARE_GROUPS} --describe --group {GROUP} --offsets",
    f"{SHARE_GROUPS} --delete --group {GROUP}",
    f"{SHARE_GROUPS} --list",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareGroupRun:
    """The acknowledgements, as ``number delivery type``, and descriptions by Kafka's tools."""

    settled: Sequence[str]
    descriptions: Descriptions


def settlements(numbers: Iterable[int]) -> list[str]:
    """Return what ShareMembers.java prints for these numbers if each is settled once."""
    found = []
    for number in numbers:
        end = "reject" if number % 7 == 0 else "accept"
        released = number % 5 == 0
        found += [f"{number} 1 release"] if released else []
        found.append(f"{number} {1 + released} {end}")
    return found


def settle_numbers(cluster: ApplicationCluster, log: Path) -> ShareGroupRun:
    """Have two members settle the numbers.

    1. The members join before there is anything to read; the state topic is created.
    2. The active controller is killed when they have settled what came before.
    3. More comes, then the second topic, which its successor creates.
    4. The group is described; the members leave; offsets and the group are deleted.
    """
    first = (
        f"TopicCommand --create --topic {EARLY} --partitions {PARTITIONS}",
        f"{CONFIGS} --alter --entity-type groups --entity-name {GROUP}"
        " --add-config share.auto.offset.reset=earliest",
    )
    with ToolProcess() as tools:
        found = [*described(tools, cluster.servers, first)]
        with Application(log, "ShareMembers", cluster.servers, GROUP, EARLY, LATE) as members:
            # 1.
            _until_both_share(tools, cluster.servers)
            _produce(cluster.servers, EARLY, NUMBERS[:BEFORE])
            members.until(_has_settled(NUMBERS[:BEFORE]))
            # 2.
            killed = cluster.kill_leader()
            # 3.
            _produce(cluster.servers, EARLY, NUMBERS[BEFORE:MEANWHILE])
            late = f"TopicCommand --create --topic {LATE} --partitions {PARTITIONS}"
            found += described(tools, cluster.servers, [late])
            _produce(cluster.servers, LATE, NUMBERS[MEANWHILE:])
            members.until(_has_settled(NUMBERS))
            # 4.
            _until_all_are_counted(tools, cluster.servers)
            steps = [*cluster_steps(("__share_group_state",)), *RUNNING]
            found += described(tools, cluster.servers, steps, MASKS)
            members.close()
        found += described(tools, cluster.servers, AFTERWARDS)
    assert cluster.leader() != killed
    return ShareGroupRun(settled=members.lines, descriptions=found)


def _until_both_share(tools: ToolProcess, servers: str) -> None:
    """Wait until both members have partitions of the first topic."""
    step = f"{SHARE_GROUPS} --describe --group {GROUP} --members"

    def lines() -> list[str]:
        ((_, found),) = described(tools, servers, [step])
        return [line for line in found if f"{EARLY}:" in line]

    eventually_blocking(lines, lambda found: len(found) == 2, timeout=DEADLINE, pause=1)


def _until_all_are_counted(tools: ToolProcess, servers: str) -> None:
    """Wait until the lag of all partitions is 0."""

    def lags() -> list[str]:
        ((_, found),) = described(tools, servers, RUNNING[:1])
        return [line.rpartition(" ")[2] for line in found if line.startswith(f"{GROUP} ")]

    zeros = ["0"] * 2 * PARTITIONS
    eventually_blocking(lags, lambda found: found == zeros, timeout=DEADLINE, pause=1)


def _produce(servers: str, topic: str, numbers: Iterable[int]) -> None:
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for number in numbers:
        producer.produce(topic, str(number), partition=number % PARTITIONS)
    assert producer.flush(DEADLINE) == 0


def _has_settled(numbers: Sequence[int]) -> Callable[[list[str]], bool]:
    """Return a condition: each number has been accepted or rejected, however often."""
    wanted = set(map(str, numbers))

    def holds(lines: list[str]) -> bool:
        words = [line.split() for line in lines]
        return wanted <= {number for number, _, *end in words if end != ["release"]}

    return holds
