"""Brokers of an unpacked release of Kafka: the folders, jars and logging that its archive has."""

import asyncio
import re
from pathlib import Path

import pytest

from kwire.testing import LocalBrokers, Quorum
from kwire.testing.local_kafka.jars import artifact, class_path
from real_kafka import Launcher
from tests.support.controller.live.broker_traffic import consume, create, produce

pytestmark = [pytest.mark.cluster, pytest.mark.nightly]

LOGGER = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"
"""The one of Kafka 4's archive; its poms name none."""

LOGGING = """\
Configuration:
  Properties:
    Property:
      - name: "kafka.logs.dir"
        value: "."
  Appenders:
    Console:
      name: STDOUT
      PatternLayout:
        pattern: "[%d] %p %m (%c)%n"
    File:
      name: ServerLog
      fileName: "${sys:kafka.logs.dir}/server.log"
      PatternLayout:
        pattern: "[%d] %p %m (%c)%n"
  Loggers:
    Root:
      level: INFO
      AppenderRef:
        - ref: STDOUT
        - ref: ServerLog
"""


@pytest.fixture
def home(kafka: Launcher, tmp_path: Path) -> Path:
    """Lay the jars of a release out as its archive does, with spaces in the path."""
    folder = tmp_path / "with a space" / "kafka_2.13-4.3.1"
    for name in ("bin", "config", "libs"):
        (folder / name).mkdir(parents=True)
    jars = {jar.name: jar for jar in (*class_path("4.3.1"), *artifact(LOGGER))}
    for name, jar in jars.items():
        if not name.startswith("slf4j-simple"):
            (folder / "libs" / name).symlink_to(jar)
    (folder / "config" / "log4j2.yaml").write_text(LOGGING)
    return folder


async def test_brokers_of_an_unpacked_kafka_serve_clients_and_log_as_it_says(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_HOME", str(home))
    brokers = LocalBrokers(1)
    assert (brokers.version, brokers.release) == ("4.3.1", "4.3")
    async with Quorum(1, brokers=brokers) as quorum:
        await asyncio.to_thread(create, quorum.bootstrap_servers, "t", 1, 1)
        await asyncio.to_thread(produce, quorum.bootstrap_servers, "t", 5)
        found = await asyncio.to_thread(consume, quorum.bootstrap_servers, "t", 5)
        assert found == list(range(5))
        log = brokers.log(1)
        assert re.search(r"^\[.*\] INFO .*\(kafka\.server\.", log, re.MULTILINE)
        logs = Path(brokers.nodes[1].folder, "server.log")
        assert "started (kafka.server" in await asyncio.to_thread(logs.read_text)
