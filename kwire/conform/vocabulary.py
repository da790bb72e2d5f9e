"""The words of a check's declaration: its source, the server it is for, its needs, its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, auto


class SentenceClass(Enum):
    """The weight of a sentence.

    SPECIFICATION: a KIP, the protocol guide or an RFC has it. SCHEMA: the schema of a message.
    JAVA: only Apache Kafka's code; a server that does otherwise DIFFERS.
    """

    SPECIFICATION = "specification"
    SCHEMA = "schema"
    JAVA = "java"


@dataclass(frozen=True, slots=True)
class SentenceSource:
    """A place where a sentence comes from; as text `KIP-511, Public Interfaces`."""

    title: str
    section: str = ""
    sentence_class: SentenceClass = SentenceClass.SPECIFICATION

    @property
    def is_habit(self) -> bool:
        """True if no document has the sentence."""
        return self.sentence_class is SentenceClass.JAVA

    def __str__(self) -> str:
        return f"{self.title}, {self.section}" if self.section else self.title


def kip(number: int, section: str) -> SentenceSource:
    """Return a section of a Kafka Improvement Proposal, by its heading there."""
    return SentenceSource(f"KIP-{number}", section)


def rfc(number: int, section: str) -> SentenceSource:
    """Return a section of a Request for Comments."""
    return SentenceSource(f"RFC {number}", section)


def schema(name: str, section: str = "") -> SentenceSource:
    """Return what a message's schema says of itself, of a field or of a version: `version 9`."""
    return SentenceSource(f"schema of {name}", section, SentenceClass.SCHEMA)


def guide(section: str) -> SentenceSource:
    """Return a section of Kafka's protocol guide."""
    return SentenceSource("Kafka protocol guide", section)


def documentation(section: str) -> SentenceSource:
    """Return a setting or a section of Kafka's documentation."""
    return SentenceSource("Kafka documentation", section)


def kafka(place: str) -> SentenceSource:
    """Return what Apache Kafka does, where no document says it; place: its class and method."""
    return SentenceSource("Apache Kafka", place, SentenceClass.JAVA)


class ServerRole(Enum):
    """The kind of server that a check is for."""

    ANY = "any"
    BROKER = "broker"
    CONTROLLER = "controller"


class Need(Flag):
    """Needs of a check beside the server; NOTHING: it reads only, or is refused.

    RESOURCES: creates topics, groups and the like under `kwire-conform-`, and removes them.
    THROW_AWAY: changes what it cannot take back. TWO_VOTERS: a quorum of two or more. EMPTY: a
    cluster without topics. SASL, TLS: credentials, certificates.
    """

    NOTHING = 0
    RESOURCES = auto()
    THROW_AWAY = auto()
    TWO_VOTERS = auto()
    EMPTY = auto()
    SASL = auto()
    TLS = auto()


class ConformanceVerdict(Enum):
    """The result of a check, the harmless ones first.

    PASS: as the sentence has it. INFO: worth knowing, nothing is demanded. SKIPPED: not run, with
    the reason. DIFFERS: legal, unlike Apache Kafka. FAIL: against the sentence. DIED: the server
    accepts no more connections.
    """

    PASS = "PASS"
    INFO = "INFO"
    SKIPPED = "SKIPPED"
    DIFFERS = "DIFFERS"
    FAIL = "FAIL"
    DIED = "DIED"

    @property
    def rank(self) -> int:
        """The order of weight, 0 for PASS."""
        return list(ConformanceVerdict).index(self)

    @property
    def is_bad(self) -> bool:
        """True for a verdict that a server has to answer for."""
        return self in (ConformanceVerdict.FAIL, ConformanceVerdict.DIED)


class Deviation(Exception):
    """Ends a check: what the server did is not what the check demands.

    expected, came: texts for the report, `error 35 UNSUPPORTED_VERSION`. came is the evidence: it
    is never empty, and never what was expected.
    """

    def __init__(
        self, expected: str, came: str, verdict: ConformanceVerdict = ConformanceVerdict.FAIL
    ) -> None:
        assert came not in ("", expected), f"a verdict without evidence: {expected!r}, {came!r}"
        self.expected = expected
        self.came = came
        self.verdict = verdict
        super().__init__(f"expected {expected}, came {came}")


class OutOfTime(Deviation):
    """Ends a check: what is waited for has not come. A server that is slow gets more time."""


class BrokenAnswer(Deviation):
    """Ends a check: what came is no answer, whatever was asked. No habit: it is FAIL."""


class Skipped(Exception):
    """Ends a check that cannot be run against this server; as text the reason."""


class Informed(Exception):
    """Ends a check that demands nothing; as text what was found out."""
