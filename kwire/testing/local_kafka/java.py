"""The Java that Kafka runs on (`kwire.java`)."""

from pathlib import Path

from kwire.java import JavaNeeds, JavaNotFound, find_java
from kwire.testing.local_kafka.errors import KafkaJavaNotFound

NEEDS = JavaNeeds(program="Kafka", oldest=17, extra="kafka")
"""Kafka 4's brokers and tools are compiled for Java 17."""


def java() -> Path:
    """Return the `java` binary to run Kafka with. Raises KafkaJavaNotFound."""
    try:
        return find_java(NEEDS)
    except JavaNotFound as error:
        raise KafkaJavaNotFound(str(error)) from None
