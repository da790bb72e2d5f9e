"""The launcher of nodes as processes of a local Java."""

import os
from pathlib import Path

from kwire.java import JavaNeeds, JavaNotFound, find_java
from kwire.testing.local_kafka.class_data import node_options, tool_options
from kwire.testing.local_kafka.errors import KafkaJavaNotFound, KafkaUnavailable
from kwire.testing.local_kafka.guard import Guard
from kwire.testing.local_kafka.installed import InstalledKafka
from kwire.testing.local_kafka.jars import class_path, tools_class_path
from kwire.testing.local_kafka.local_site import LocalSite
from kwire.testing.local_kafka.maven import Progress

NEEDS = JavaNeeds(program="Kafka", oldest=17, extra="kafka")
"""Kafka 4's brokers and tools are compiled for Java 17."""


def java() -> Path:
    """Return the `java` binary to run Kafka with. Raises KafkaJavaNotFound."""
    try:
        return find_java(NEEDS)
    except JavaNotFound as error:
        raise KafkaJavaNotFound(str(error)) from None


class LocalLauncher:
    """Runs nodes where this process runs.

    kafka: an unpacked release of Kafka, whose jars are run; by default they are loaded.
    guard: of the sites, which close it; by default each has its own.
    """

    name = "local"

    def __init__(self, kafka: InstalledKafka | None = None, guard: Guard | None = None) -> None:
        self._kafka = kafka
        self._guard = guard

    def look(self) -> None:
        """Look for Java. Raises KafkaUnavailable if there is none, or on Windows."""
        if os.name != "posix":
            raise KafkaUnavailable("Kafka's processes are run on Linux and macOS only.")
        java()

    def site(self, version: str, progress: Progress) -> "LocalSite":
        """Find Java and load the jars. Raises KafkaUnavailable if that fails."""
        self.look()
        binary = java()
        if self._kafka is not None:
            kafka = self._kafka
            return LocalSite(
                binary, version, kafka.jars, kafka.jars, logging=kafka.logging, guard=self._guard
            )
        jars, tools = class_path(version, progress), tools_class_path(version, progress)
        return LocalSite(
            binary,
            version,
            jars,
            tools,
            node_options=node_options(binary, version, jars, progress),
            tool_options=tool_options(binary, version, tools, progress),
            guard=self._guard,
        )
