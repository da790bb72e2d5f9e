"""The verdicts of a check, and what a check raises to end with one."""

from __future__ import annotations

from enum import Enum


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

    expected, came: texts for the report, `error 35 UNSUPPORTED_VERSION`.
    """

    def __init__(
        self,
        expected: str,
        came: str,
        verdict: ConformanceVerdict = ConformanceVerdict.FAIL,
    ) -> None:
        self.expected = expected
        self.came = came
        self.verdict = verdict
        super().__init__(f"expected {expected}, came {came}")


class Skipped(Exception):
    """Ends a check that cannot be run against this server; as text the reason."""


class Informed(Exception):
    """Ends a check that demands nothing; as text what was found out."""
