"""`kwire partitions reassign apply` takes its throttle off when a signal ends it."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kwire.admin.topic_partition import TopicPartition
from tests.support.admin.scripted_moves import ScriptedMoves
from tests.support.cli.command import KWIRE
from tests.support.cli.scripted_cluster import scripted_cluster

PLAN = '{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[0,2]}]}'


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_throttle_and_not_the_moves(
    tmp_path: Path, number: signal.Signals
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(PLAN)
    with scripted_cluster(3) as brokers:
        moves = ScriptedMoves(brokers)
        moves.replicas = {TopicPartition("a", 0): (0, 1)}
        moves.listings = -1
        words = ("partitions", "reassign", "apply", plan, "--throttle", "1000", "--yes")
        process: subprocess.Popen[Any] = subprocess.Popen(
            [KWIRE, *words, "--bootstrap-server", brokers.addresses[0]],
            env={**os.environ, "KWIRE_STATE": str(tmp_path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        assert "0 of 1 partitions have moved" in process.stderr.readline()
        assert moves.throttled
        process.send_signal(number)
        _, rest = process.communicate(timeout=60)
        assert (process.returncode, moves.throttled, bool(moves.moving)) == (130, False, True), rest
    assert not list(tmp_path.glob("reassignment-*.json"))
