"""A minute of faults on a real quorum of Kafka's: nothing but its known refusals is found."""

from __future__ import annotations

import pytest

from faults_lab.kafka_lab import KafkaLab
from kwire.fault_lab.report import summary
from kwire.fault_lab.run import run_under_faults
from kwire.fault_lab.schedule import read_schedule
from real_kafka import Launcher


@pytest.mark.nightly
async def test_kafka_shows_its_known_refusals_at_most(kafka: Launcher) -> None:
    if kafka.name != "local":
        pytest.skip("among containers the nodes talk past the proxy")
    lab = KafkaLab(kafka, "4.3.1")
    try:
        run = await run_under_faults(
            read_schedule("seed=1,minutes=1"),
            lab.topology,
            start=lab.start,
            # A check may create a topic here and be told there that it does not exist: the same.
            allowed=frozenset({"stale-refusal", "check"}),
        )
    finally:
        await lab.stop()
    assert run.passed, list(summary(run, ""))
    counts = run.history.counts()
    for kind in ("records append", "transactions commit", "offset set", "topic create"):
        assert counts[kind].get("ok"), counts
