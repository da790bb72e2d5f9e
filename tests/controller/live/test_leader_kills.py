"""Leaders of a mixed quorum are killed, and stand still, while clients create topics.

KWIRE_KILLS and KWIRE_PAUSES set how often; 200 and 100 is the long form, `make kills`.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from pathlib import Path
from random import Random

from real_kafka import Launcher
from tests.support.controller.live import log_agreement
from tests.support.controller.live.controller_processes import TORN, ControllerProcesses
from tests.support.controller.live.java_nodes import JavaNodes
from tests.support.controller.live.mixed_quorum import JAVA, MixedQuorum, ends, register_a_broker
from tests.support.seed import SEED

KILLS = int(os.environ.get("KWIRE_KILLS", "1"))
PAUSES = int(os.environ.get("KWIRE_PAUSES", "1"))
FAULTS = KILLS + PAUSES
LARGE_FAULTS = 20
"""Faults that hit large requests; of hundreds, each of them leaves 7,200 topics more."""

QUICK = {
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.request.timeout.ms": "1000",
    "broker.session.timeout.ms": "3600000",
}
"""The broker of the test is none: it registers, and nobody misses its heartbeats."""

FIRST_TO_STAND = {**QUICK, "controller.quorum.fetch.timeout.ms": "800"}
"""For kwire's. Who stands first for the place of a dead leader is refused by who still follows it
(KIP-996), and loses to who stands next: so Kafka's controller leads, too."""


HEAP = ("-Xmx2g",)
"""Room for the topics of hundreds of faults: with 256 MB Kafka's controller ran out of memory."""


async def test_nothing_acknowledged_is_lost_when_leaders_of_either_kind_die_or_stand_still(
    kafka: Launcher, tmp_path: Path
) -> None:
    random = Random(SEED)
    faults = [MixedQuorum.kill_the_leader] * KILLS + [
        MixedQuorum.stop_the_leader_for_a_while
    ] * PAUSES
    random.shuffle(faults)
    with ControllerProcesses(tmp_path, (3000, 3001), FIRST_TO_STAND) as kwire:
        nodes = JavaNodes(kafka, kwire)
        mixed: MixedQuorum | None = None
        try:
            joining = {**QUICK, "controller.quorum.auto.join.enable": "true"}
            java = nodes.make(JAVA, "controller", joining, jvm=HEAP)
            mixed = MixedQuorum(
                kwire=kwire, java=java, random=random, large_faults=min(1.0, LARGE_FAULTS / FAULTS)
            )
            await asyncio.to_thread(java.start)
            addresses = set(mixed.addresses)
            await mixed.until(lambda told: set(ends(told)) == addresses)
            await register_a_broker(mixed)
            mixed.start_clients()
            await mixed.progress()
            victims: Counter[tuple[str, int]] = Counter()
            for number, fault in enumerate(faults, 1):
                print(f"{number} of {FAULTS}: {fault.__name__}", flush=True)  # noqa: T201
                victims[fault.__name__, await fault(mixed)] += 1
            await mixed.stop_clients()
            await log_agreement.check(mixed)
            await log_agreement.read_by_kafka(mixed)
            cut = sum(member.log.count(TORN) for member in kwire.members.values())
            print(  # noqa: T201
                f"{mixed.history.counts()}, leaders: {dict(victims)}, ends of logs torn off:"
                f" {mixed.torn}, {cut} of them within a batch;"
                f" {log_agreement.latencies(mixed.history)}"
            )
        finally:
            if mixed is not None:
                await mixed.cancel_clients()
            await asyncio.to_thread(nodes.close)
