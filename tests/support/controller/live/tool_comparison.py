"""Runs every step of the comparison with one cluster, and returns what is compared of each."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from real_kafka import RunningNode, free_port
from tests.support.controller.live.tool_directory_steps import FIRST, SECOND, plans
from tests.support.controller.live.tool_runner import (
    LATE,
    UNKNOWN_CLASS,
    ToolOutcome,
    ToolProcess,
    comparable,
)
from tests.support.controller.live.tool_security_steps import BROKER_LOGINS, CLIENT_FILES
from tests.support.controller.live.tool_step import TOOLS, CallStep, ToolStep
from tests.support.controller.live.tool_steps import every_step

READS = re.compile(r"list|describe")
PUBLISHED = 0.3
"""Seconds after which brokers have applied what the controller has acknowledged."""
OF_TOKENS, CACHED = "DelegationTokenCommand", 1.5
"""Seconds after which Kafka's nodes have a token in their caches, too."""
PATIENCE = 60
"""Seconds in which a step must print what it waits for."""
READY = "--create --topic ready --partitions 1 --replication-factor 2"

Outcomes = dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCluster:
    """Two brokers, a controller that leads, and one that is to be added. Addresses are texts.

    sasl: ports of the brokers' listener SASL.
    """

    brokers: Mapping[int, RunningNode]
    sasl: Mapping[int, int]
    controllers: str
    joining: RunningNode

    @property
    def servers(self) -> str:
        """The brokers' addresses without a login."""
        return ",".join(str(broker.broker_address) for broker in self.brokers.values())


def configure(broker: RunningNode) -> int:
    """Give a broker a listener with SASL and two log directories; return the listener's port."""
    port, plain = free_port(), broker.broker_address
    listeners = f"PLAINTEXT://{plain},SASL://127.0.0.1:{port}"
    protocols = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT"
    broker.configure(
        {
            "listeners": listeners,
            "advertised.listeners": listeners,
            "listener.security.protocol.map": protocols,
            "log.dirs": f"{broker.folder}/{FIRST},{broker.folder}/{SECOND}",
            **BROKER_LOGINS,
        }
    )
    return port


def outcomes(cluster: ComparedCluster, folder: Path) -> Outcomes:
    """Run every step; return what is compared of each, by its number and name.

    folder: for the files that the steps name.
    """
    from tests.support.controller.live.library_steps import outcomes_of_libraries

    folder.mkdir()
    folders = {id: broker.folder for id, broker in cluster.brokers.items()}
    values = {
        "servers": cluster.servers,
        "controllers": cluster.controllers,
        "sasl": ",".join(f"127.0.0.1:{port}" for port in cluster.sasl.values()),
        "first_directory": f"{folders[1]}/{FIRST}",
        "joining": f"{cluster.joining.folder}/server.properties",
        "joining_directory": cluster.joining.directory_id,
    }
    _write({**plans(folders), **CLIENT_FILES}, folder, values)
    found: Outcomes = {}
    with ToolProcess() as tools:
        made = (f"{TOOLS}TopicCommand", "--bootstrap-server", cluster.servers, *READY.split())
        assert tools.run(*made).code == 0
        for number, step in enumerate(every_step()):
            name = f"{number}. {step.name}"
            if isinstance(step, CallStep):
                found[name] = step.call(cluster.servers)
                continue
            texts = {file: text.format_map(values) for file, text in step.files.items()}
            _write(texts, folder, values)
            outcome = _outcome(tools, step, values)
            for value, pattern in step.keep.items():
                match = re.search(pattern, outcome.printed)
                assert match, (name, outcome)
                values[value] = match[1]
            lines = comparable(outcome)
            found[name] = [line for line in lines if not (step.skip and re.search(step.skip, line))]
    return found | outcomes_of_libraries(cluster.servers)


def _write(texts: Mapping[str, str], folder: Path, values: dict[str, str]) -> None:
    """Write files, and add their paths to the values."""
    for name, text in texts.items():
        path = folder / f"{name}.file"
        path.write_text(text)
        values[name] = str(path)


def _outcome(tools: ToolProcess, step: ToolStep, values: Mapping[str, str]) -> ToolOutcome:
    line = [word.format_map(values) for word in step.words]
    if READS.search(step.name):
        time.sleep(PUBLISHED)
    if OF_TOKENS in step.name:
        time.sleep(CACHED)
    end = time.monotonic() + PATIENCE
    while True:
        outcome = tools.run(*line, text=step.text, seconds=step.seconds)
        assert outcome.code not in (LATE, UNKNOWN_CLASS), step.name
        is_done = not step.until or re.search(step.until, outcome.printed + outcome.failed)
        if is_done or time.monotonic() > end:
            return outcome
        time.sleep(PUBLISHED)
