"""Sources of the sentences that checks hold a server to."""

from __future__ import annotations

from dataclasses import dataclass

_KIPS = "https://cwiki.apache.org/confluence/display/KAFKA/KIP-"


@dataclass(frozen=True, slots=True)
class SentenceSource:
    """A place where a sentence comes from; as text `KIP-511, Public Interfaces`."""

    title: str
    section: str = ""

    def __str__(self) -> str:
        return f"{self.title}, {self.section}" if self.section else self.title


def kip(number: int, section: str = "") -> SentenceSource:
    """Return a section of a Kafka Improvement Proposal."""
    return SentenceSource(f"KIP-{number}", section)


def schema(name: str, field: str = "") -> SentenceSource:
    """Return what a message's schema says of itself or of a field."""
    return SentenceSource(f"schema of {name}", field)


def guide(section: str) -> SentenceSource:
    """Return a section of Kafka's protocol guide."""
    return SentenceSource("Kafka protocol guide", section)


def kafka(place: str) -> SentenceSource:
    """Return what Apache Kafka does, where no document says it; place: its class and method."""
    return SentenceSource("Apache Kafka", place)
