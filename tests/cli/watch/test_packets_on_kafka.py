"""Packets of a real quorum, taken by dumpcap from the loopback, are watched live."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import Any

import pytest

from real_kafka import Cluster
from tests.support.cli.command import KWIRE, Command
from tests.support.eventually import eventually_blocking

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may take packets"
)


@contextmanager
def watched(ports: list[str]) -> Iterator[Popen[bytes]]:
    """Run `dumpcap | kwire watch -` for packets of these ports; end both."""
    ends = " or ".join(f"tcp port {port}" for port in ports)
    dump = ["dumpcap", "-q", "-i", "lo", "-f", ends, "-w", "-"]
    nodes = [word for port in ports for word in ("--node-port", port)]
    command = [str(KWIRE), "watch", "-", "--json", *nodes, "--view", "~api DescribeQuorum"]
    with (
        Popen(dump, stdout=PIPE, stderr=PIPE) as packets,
        Popen(command, stdin=packets.stdout, stdout=PIPE, stderr=PIPE) as watching,
    ):
        try:
            assert packets.stderr
            eventually_blocking(packets.stderr.readline, lambda line: b"File: -" in line)
            yield watching
        finally:
            for process in (packets, watching):
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)


def flows(watching: Popen[bytes]) -> Iterator[dict[str, Any]]:
    assert watching.stdout
    for line in watching.stdout:
        if (seen := json.loads(line))["type"] == "flow":
            yield seen


def test_an_rpc_of_real_kafka_is_seen_while_it_goes_on(quorum: Cluster, kwire: Command) -> None:
    addresses = quorum.bootstrap_controllers.split(",")
    ports = [address.rpartition(":")[2] for address in addresses]
    with watched(ports) as watching:
        status = kwire(
            *("quorum", "status", "--json"),
            *("--bootstrap-controller", quorum.bootstrap_controllers),
        )
        seen = next(flow for flow in flows(watching) if not flow["errors"])
        watching.send_signal(signal.SIGINT)
        assert watching.stderr
        told = watching.stderr.read().decode()
    leader = status.json["leaderId"]
    assert (seen["api"], seen["ending"], seen["clientId"]) == (
        "DescribeQuorum",
        "answered",
        "kwire-admin",
    )
    assert f"leader {leader} " in seen["summary"]
    assert seen["upstream"].rpartition(":")[2] in ports
    assert 0 < seen["latencyMs"] < 60_000
    assert (watching.returncode, "connections" in told) == (130, True)
