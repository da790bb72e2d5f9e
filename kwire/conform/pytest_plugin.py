"""`pytest --kwire-conform HOST:PORT`: a test for each check, beside the user's own tests.

All checks are run when the first of these tests is, as `kwire conform` runs them: a few at once,
and with its search for the check of which a server died. The tests then report the results.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# pytest imports this module before it knows which tests are asked for: nothing else at its top.
if TYPE_CHECKING:
    from kwire.conform.check import Check
    from kwire.conform.report.document import CheckPart
    from kwire.conform.report.expected import Expectations
    from kwire.conform.suite import SuiteOptions

_PREFIX = "--kwire-conform"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; those of `kwire conform` under longer names."""
    group = parser.getgroup("kwire-conform", "conformance to Kafka's wire protocol")
    group.addoption(_PREFIX, metavar="HOST:PORT", help="check this server, a test a check")
    group.addoption(
        f"{_PREFIX}-id", metavar="ID", action="append", help="only these checks, or those below"
    )
    group.addoption(f"{_PREFIX}-config", metavar="FILE", help="client properties: TLS and SASL")
    group.addoption(f"{_PREFIX}-controller", action="store_true", help="it is a controller")
    group.addoption(f"{_PREFIX}-read-only", action="store_true", help="create nothing")
    group.addoption(
        f"{_PREFIX}-spoil",
        metavar="CLUSTER_ID",
        help="also run checks that change this cluster and cannot take it back",
    )
    group.addoption(
        f"{_PREFIX}-patience",
        metavar="SECONDS",
        type=float,
        help="seconds after which the server counts as silent; measured by default",
    )
    group.addoption(f"{_PREFIX}-expect", metavar="FILE", help="expectations of the server")


@pytest.hookimpl(tryfirst=True)  # -k chooses among these tests, too
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each check, if a server is named."""
    if address := config.getoption(_PREFIX):
        run = ConformanceTests.configured(address, config)
        items += [
            ConformanceItem.from_parent(
                session, name=check.id, nodeid=f"kwire-conform::{check.id}", check=check, tests=run
            )
            for check in run.checks
        ]


class ConformanceTests:
    """The one run that all tests report of."""

    def __init__(
        self,
        address: str,
        checks: tuple[Check, ...],
        options: SuiteOptions,
        expectations: Expectations,
    ) -> None:
        self.address = address
        self.checks = checks
        self.expectations = expectations
        self._options = options
        self._parts: Mapping[str, CheckPart] | None = None
        self._error: Exception | None = None

    @classmethod
    def configured(cls, address: str, config: pytest.Config) -> ConformanceTests:
        """Read the options. Raises UsageError."""
        from kwire.conform.check import FIRST
        from kwire.conform.registry import select
        from kwire.conform.report.expected import ANY_VERDICT, read_expectations
        from kwire.conform.suite import SuiteOptions
        from kwire.conform.vocabulary import ServerRole
        from kwire.errors import InvalidValue
        from kwire.net.address import Address
        from kwire.net.security import PLAINTEXT, read_security

        def option(name: str) -> Any:
            return config.getoption(f"{_PREFIX}-{name}")

        try:
            Address.parse(address)
            ids = tuple(option("id") or ())
            security = read_security(Path(option("config"))) if option("config") else PLAINTEXT
            expect = option("expect")
            return cls(
                address,
                (FIRST, *select(ids)),
                SuiteOptions(
                    ids=ids,
                    security=security,
                    role=ServerRole.CONTROLLER if option("controller") else None,
                    cluster=option("spoil"),
                    read_only=option("read-only"),
                    patience=option("patience"),
                ),
                read_expectations(Path(expect)) if expect else ANY_VERDICT,
            )
        except InvalidValue as error:
            raise pytest.UsageError(str(error)) from error

    def result(self, check_id: str) -> CheckPart:
        """Return the result of a check; the first call runs all. Raises what the run raises."""
        if self._error is not None:
            raise self._error
        if self._parts is None:
            try:
                self._parts = self._run()
            except Exception as error:
                self._error = error
                raise
        return self._parts[check_id]

    def _run(self) -> Mapping[str, CheckPart]:
        import asyncio

        from kwire.conform.report.document import check_part
        from kwire.conform.suite import run_suite

        run = asyncio.run(run_suite(self.address, self._options))
        return {result.id: check_part(result) for result in run}


class NotConformant(Exception):
    """A check is not as it should be; as text why, and the bytes."""


class ConformanceItem(pytest.Item):
    """The test of one check."""

    def __init__(self, *, check: Check, tests: ConformanceTests, **rest: Any) -> None:
        super().__init__(**rest)
        self.check = check
        self.tests = tests

    def runtest(self) -> None:
        """Report the result of the check: a skip, an expected failure, a failure with bytes."""
        from kwire.conform.report.text import hex_lines
        from kwire.conform.vocabulary import ConformanceVerdict
        from kwire.text.untrusted import harmless

        part = self.tests.result(self.check.id)
        judgement = self.tests.expectations.judge(part)
        if judgement.is_unexpected:
            source = f"{self.check.sentence} ({self.check.source})"
            lines = [source, harmless(judgement.text), *hex_lines(part)]
            raise NotConformant("\n".join(lines))
        if part.verdict is ConformanceVerdict.SKIPPED:
            pytest.skip(harmless(part.reason))
        if judgement.is_expected_deviation:
            pytest.xfail(harmless(judgement.text))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Return the text of a failure; an error of kwire's is a sentence, too."""
        from kwire.errors import KwireError

        if isinstance(excinfo.value, NotConformant | KwireError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        """Return where the test stands: at the server."""
        return f"kwire conform {self.tests.address}", None, self.check.id
