"""Kafka's own kafka-metadata-quorum, and waiting for a quorum, in tests of `kwire quorum`."""

import json
import time
from collections.abc import Callable
from typing import TypeVar

from real_kafka import Cluster
from tests.support.cli.command import Command, Run

T = TypeVar("T")
TOOL = "org.apache.kafka.tools.MetadataQuorumCommand"


def java(cluster: Cluster, *arguments: str) -> str:
    """What Kafka's own tool prints."""
    told = cluster.tool(TOOL, "--bootstrap-controller", cluster.bootstrap_controllers, *arguments)
    assert told.returncode == 0, told.stderr
    return told.stdout


def java_status(cluster: Cluster) -> dict[str, object]:
    """Its `describe --status` by field, in our JSON's spelling; numbers and lists as such."""
    lines = (line.partition(":") for line in java(cluster, "describe", "--status").splitlines())
    text = {name[0].lower() + name[1:]: value.strip() for name, _, value in lines}
    as_json = (value if name == "clusterId" else json.loads(value) for name, value in text.items())
    return dict(zip(text, as_json, strict=True))


def until(ask: Callable[[], T], enough: Callable[[T], bool]) -> T:
    """The first answer that is good enough; a cluster takes its time to hear of a node."""
    deadline = time.monotonic() + 60
    while not enough(answer := ask()):
        assert time.monotonic() < deadline, answer
    return answer


def changed(kwire: Command, *arguments: str) -> Run:
    """What is said of a change of voters when it is its turn; others may be pending before it."""
    return until(
        lambda: kwire("quorum", *arguments), lambda run: "REQUEST_TIMED_OUT" not in run.err
    )


def voters(cluster: Cluster) -> set[int]:
    """The voter ids as Kafka's own tool reports them."""
    current = java_status(cluster)["currentVoters"]
    assert isinstance(current, list)
    return {voter["id"] for voter in current}
