"""Metrics as a scrape has them, and the names that Kafka's own class files have."""

import zipfile

from prometheus_client.core import Metric


def values(families: list[Metric], **labels: str) -> dict[str, float]:
    """Value by name, of the samples with at least these labels."""
    samples = (sample for family in families for sample in family.samples)
    return {
        sample.name: sample.value for sample in samples if labels.items() <= sample.labels.items()
    }


def class_file(jar: object, name: str) -> bytes:
    """Return a class file of Kafka; name: below org/apache/kafka."""
    with zipfile.ZipFile(str(jar)) as archive:
        return archive.read(f"org/apache/kafka/{name}.class")


def has_constant(constants: bytes, text: str) -> bool:
    """True if a class file has this text, whole, among its constants."""
    return b"\x01" + len(text).to_bytes(2, "big") + text.encode() in constants
