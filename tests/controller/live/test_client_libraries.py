"""Client libraries in Python get the same answers from brokers of either quorum."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from real_kafka import Launcher
from tests.support.controller.live.application_cluster import java_cluster, kwire_cluster
from tests.support.controller.live.libraries.answers import ABORTED, COMMITTED, NUMBERS

pytestmark = pytest.mark.nightly

KEPT = [*NUMBERS, *COMMITTED]
READ = {
    "kafka-python": {"read in a group": KEPT, "read_uncommitted": [*KEPT, *ABORTED]},
    "confluent-kafka": {
        "read in librdkafka-classic": KEPT,
        "read in librdkafka-consumer": KEPT,
        "read_uncommitted": [*KEPT, *ABORTED],
        "librdkafka-consumer with a member": ["STABLE", "CONSUMER", "uniform", [4]],
    },
    "aiokafka": {"read in a group": KEPT},
}
"""Some of the answers, as they have to be."""


def libraries() -> dict[str, Callable[[str], dict[str, Any]]]:
    """Return the session of each library, which returns the answers by step."""
    from tests.support.controller.live.libraries.aiokafka_session import with_aiokafka
    from tests.support.controller.live.libraries.confluent_session import with_confluent_kafka
    from tests.support.controller.live.libraries.kafka_python_session import with_kafka_python

    return {
        "kafka-python": with_kafka_python,
        "confluent-kafka": with_confluent_kafka,
        "aiokafka": with_aiokafka,
    }


def test_answers_are_those_that_a_quorum_of_kafkas_gives(kafka: Launcher, tmp_path: Path) -> None:
    with kwire_cluster(kafka, tmp_path) as cluster:
        ours = {name: use(cluster.servers) for name, use in libraries().items()}
    for name, answers in READ.items():
        assert {step: ours[name][step] for step in answers} == answers
    with java_cluster(kafka) as cluster:
        theirs = {name: use(cluster.servers) for name, use in libraries().items()}
    for name, steps in ours.items():
        assert list(steps) == list(theirs[name])
        different = {
            step: (answer, theirs[name][step])
            for step, answer in steps.items()
            if answer != theirs[name][step]
        }
        assert different == {}, name
