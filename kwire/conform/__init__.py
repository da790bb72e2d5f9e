"""Conformance checks: of Kafka's wire protocol, for any server that claims to speak it.

A check is a value: one sentence with its source, what is sent, and what the server may do. Sections
of checks stand in `kwire.conform.checks`; `runner` runs them, `kwire conform` and `run_suite` with
all that belongs to a run.

run = asyncio.run(run_suite("localhost:9092", SuiteOptions(ids=("versions",))))
assert not [result for result in run if result.verdict.is_bad]
"""

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_names

if TYPE_CHECKING:
    from kwire.conform.result import CheckResult, ConformanceRun
    from kwire.conform.suite import SuiteOptions, run_suite
    from kwire.conform.vocabulary import ConformanceVerdict

__all__ = ["CheckResult", "ConformanceRun", "ConformanceVerdict", "SuiteOptions", "run_suite"]

if not TYPE_CHECKING:  # a type checker would take any name for one of these
    __getattr__, __dir__ = lazy_names(
        "kwire.conform",
        {
            "CheckResult": "result",
            "ConformanceRun": "result",
            "ConformanceVerdict": "vocabulary",
            "SuiteOptions": "suite",
            "run_suite": "suite",
        },
    )
