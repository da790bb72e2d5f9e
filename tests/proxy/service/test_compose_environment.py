"""The environment of compose.yaml, as the entry point of Kafka's own image reads it."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from kwire.testing.local_kafka.jars import class_path
from kwire.testing.local_kafka.local import java
from tests.support.paths import DOCS

ENTRY_POINT = "kafka.docker.KafkaDockerWrapper"
LOGGERS = "Configuration: {Loggers: {Root: {level: INFO}, Logger: []}}\n"


@pytest.mark.java
def test_kafkas_image_formats_a_node_of_it(tmp_path: Path) -> None:
    """The class makes server.properties of KAFKA_… and formats the log directory by it."""
    compose = yaml.safe_load((DOCS / "service" / "compose.yaml").read_text())
    variables: dict[str, str] = compose["services"]["kafka"]["environment"]
    folders = {name: tmp_path / name for name in ("default", "mounted", "final")}
    for folder in folders.values():
        folder.mkdir()
    for name in ("server.properties", "log4j2.yaml", "tools-log4j2.yaml"):
        (folders["default"] / name).write_text(LOGGERS if name.endswith("yaml") else "")
    of_image = {"CLUSTER_ID": "5L6g3nShT-eMCtK--X86sw", "KAFKA_LOG_DIRS": str(tmp_path / "data")}
    command = [str(java()), "-cp", ":".join(map(str, class_path("4.3.1"))), ENTRY_POINT, "setup"]
    for name, folder in folders.items():
        command += [f"--{name}-configs-dir", str(folder)]
    environment = {**os.environ, **variables, **of_image}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = (folders["final"] / "server.properties").read_text().splitlines()
    assert f"advertised.listeners={variables['KAFKA_ADVERTISED_LISTENERS']}" in lines
    assert (tmp_path / "data" / "meta.properties").exists()
