"""`kwire quorum explain` on a real quorum: nodes, their logs and a metadata log tell one story."""

from __future__ import annotations

from pathlib import Path

import pytest

from real_kafka import Cluster
from tests.support.cli.command import Command

pytestmark = pytest.mark.cluster


def test_all_sources_of_a_real_quorum_agree(
    kwire: Command, quorum: Cluster, tmp_path: Path
) -> None:
    """The logs have no dates: the LeaderChangeMessages give them."""
    options = ["--bootstrap-controller", quorum.bootstrap_controllers]
    for id, node in quorum.controllers.items():
        log = tmp_path / f"{id}.log"
        log.write_text(node.log(100_000))
        options += ["--log", str(log)]
    options += ["--directory", f"{quorum.controllers[3000].folder}/data"]
    document = kwire("quorum", "explain", *options, "--json").json
    told = {leader["epoch"]: leader["leaderId"] for leader in document["leaders"]}
    status = kwire("quorum", "status", *options[:2], "--json").json
    assert told[status["leaderEpoch"]] == status["leaderId"]
    ready = {a["nodeId"]: a["good"] for a in document["answers"] if a["question"] == "ready"}
    assert ready == {3000: True, 3001: True, 3002: True}
    assert document["notUnderstood"] == []
    starts = [event for event in document["events"] if event["kind"] == "started"]
    assert {event["nodeId"] for event in starts} == {3000, 3001, 3002}
    assert all("T" in event["time"] for event in starts)
    assert [note for note in document["notKnown"] if "without dates" not in note] == []
