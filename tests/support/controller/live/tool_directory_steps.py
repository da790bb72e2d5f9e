"""Steps by Kafka's tools that are about log directories, and the files with moves for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tests.support.controller.live.tool_step import CONFIGS, ToolStep, step

REASSIGN = "reassign.ReassignPartitionsCommand"
FIRST, SECOND = "data", "more"
"""The log directories of each broker, below its folder."""


def plans(folders: Mapping[int, str]) -> dict[str, str]:
    """Return texts of files for ReassignPartitionsCommand by name. folders: of brokers 1 and 2."""
    turned = [
        {"topic": "b", "partition": 0, "replicas": [2, 1]},
        {"topic": "b", "partition": 1, "replicas": [1]},
    ]
    found = {"plan": turned}
    for name in (FIRST, SECOND, "nowhere"):
        paths = [f"{folders[id]}/{name}" for id in (1, 2)]
        moved = {"topic": "d", "partition": 0, "replicas": [1, 2], "log_dirs": paths}
        found[f"to_{name}"] = [moved]
    return {name: json.dumps({"version": 1, "partitions": moves}) for name, moves in found.items()}


def directories() -> Iterator[ToolStep]:
    """Replicas move between directories; a cordoned one gets no new replicas."""
    yield step("TopicCommand", "--create --topic d --replica-assignment 1:2")
    describe = "--describe --broker-list 1,2 --topic-list d"
    # A broker that has not heard of the topic refuses to move its replica. Which of its directories
    # it takes first is its own choice.
    yield step("LogDirsCommand", describe, skip='"partitions"', until="d-0.*d-0")
    for name, skip in ((SECOND, '"log_dirs"'), (FIRST, ""), (SECOND, "")):
        file = f"--reassignment-json-file {{to_{name}}}"
        throttle = "--replica-alter-log-dirs-throttle 10000000"
        yield step(REASSIGN, f"{file} --execute {throttle}", skip=skip)
        yield step(REASSIGN, f"{file} --verify", until=r"(?s)(completed successfully.*){2}")
        yield step("LogDirsCommand", describe)
    yield step(REASSIGN, "--reassignment-json-file {to_nowhere} --execute")
    yield step(REASSIGN, "--reassignment-json-file {to_nowhere} --verify")
    entity = "--alter --entity-type brokers --entity-name 1"
    cordon = f"{entity} --add-config cordoned.log.dirs"
    yield step(CONFIGS, f"{cordon}=[{{first_directory}}]")
    yield step(CONFIGS, f"{cordon}=[/no/such/directory]")
    yield step(CONFIGS, "--describe --entity-type brokers --entity-name 1")
    yield step("TopicCommand", "--create --topic e --partitions 3 --replication-factor 2")
    yield step("LogDirsCommand", "--describe --broker-list 1 --topic-list e", until="e-2")
    yield step(CONFIGS, f"{entity} --delete-config cordoned.log.dirs")
    for words in (
        "--describe --topic-list nothing",
        "--describe --broker-list 1 --topic-list nothing",
        "--describe --broker-list 77",
    ):
        yield step("LogDirsCommand", words)
    for topic in ("d", "e"):
        yield step("TopicCommand", f"--delete --topic {topic}")
