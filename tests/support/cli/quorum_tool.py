"""Kafka's own kafka-metadata-quorum, and waiting for a quorum, in tests of `kwire quorum`."""

import json
from typing import TypeVar

from real_kafka import Cluster
from tests.support.cli.command import Command, Run
from tests.support.eventually import eventually_blocking

T = TypeVar("T")
TOOL = "org.apache.kafka.tools.MetadataQuorumCommand"


def java(cluster: Cluster, *arguments: str) -> str:
    """Return the output of Kafka's own tool."""
    told = cluster.tool(TOOL, "--bootstrap-controller", cluster.bootstrap_controllers, *arguments)
    assert told.returncode == 0, told.stderr
    return told.stdout


def java_status(cluster: Cluster) -> dict[str, object]:
    """Its `describe --status` by field, in our JSON's spelling; numbers and lists as such."""
    lines = (line.partition(":") for line in java(cluster, "describe", "--status").splitlines())
    text = {name[0].lower() + name[1:]: value.strip() for name, _, value in lines}
    as_json = (value if name == "clusterId" else json.loads(value) for name, value in text.items())
    return dict(zip(text, as_json, strict=True))


def changed(kwire: Command, *arguments: str) -> Run:
    """Ask for a change of voters until no other is pending; return what the command prints."""
    return eventually_blocking(
        lambda: kwire("quorum", *arguments), lambda run: "REQUEST_TIMED_OUT" not in run.err
    )


def voters(cluster: Cluster) -> set[int]:
    """The voter ids as Kafka's own tool reports them."""
    current = java_status(cluster)["currentVoters"]
    assert isinstance(current, list)
    return {voter["id"] for voter in current}
