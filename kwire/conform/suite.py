"""A whole run against a server: look at it, make sure of what is allowed, sweep, run the checks.

1. Connect. If nobody accepts the connection, there is no run.
2. Ask ApiVersions: the first check of every run. Unless it is answered, no other is run.
3. Checks that change what they cannot take back need the id of the cluster, as the user typed it.
4. Remove what an interrupted run has left.
5. Run the checks.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from kwire.conform.check import FIRST, Check
from kwire.conform.connection import PATIENCE
from kwire.conform.leftovers import Leftovers, sweep
from kwire.conform.registry import select
from kwire.conform.result import CheckResult, ConformanceRun, skipped
from kwire.conform.runner import RUN_LIMIT, OnResult, Restart, run_checks
from kwire.conform.target import Target, examine_target
from kwire.conform.transcript import Transcript
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, Need, ServerRole
from kwire.errors import ConnectionFailed, LocalError
from kwire.net.address import Address, why_not_bound
from kwire.net.security import PLAINTEXT, Security

CONNECT_TIMEOUT = 5.0

NOT_TYPED = "it changes what it cannot take back: --destructive --cluster ID"
READ_ONLY = "it creates topics, groups or the like, and the run is read-only"


class WrongCluster(LocalError):
    """Destructive checks were asked for, and the server is not of the cluster that was named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """The options of a run.

    ids: of checks, or the beginnings of them; empty for all. role: None to find it out. cluster:
    the id of the cluster on which checks may change what they cannot take back; None to run none
    of these. read_only: create nothing. clean: remove what other runs have left, too, which may be
    under way. limit: seconds for the run. patience: seconds after which the server counts as
    silent; None to measure it first. as_java: what DIFFERS from Apache Kafka is FAIL.
    """

    ids: tuple[str, ...] = ()
    security: Security = PLAINTEXT
    role: ServerRole | None = None
    cluster: str | None = None
    read_only: bool = False
    clean: bool = False
    restart: Restart | None = None
    limit: float = RUN_LIMIT
    patience: float | None = None
    as_java: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteStart:
    """A run that is about to start. leftovers: of other runs."""

    target: Target
    checks: tuple[Check, ...]
    first: CheckResult
    leftovers: Leftovers


async def run_suite(
    address: Address | str,
    options: SuiteOptions | None = None,
    *,
    on_start: Callable[[SuiteStart], None] = lambda start: None,
    on_result: OnResult = lambda result: None,
) -> ConformanceRun:
    """Run checks against a server.

    on_start: called when the server is known. on_result: with each result as it comes; that of a
    check that is repeated comes twice.

    Raises InvalidValue for an id that no check has or what is no address, ConnectionFailed if
    nobody listens there, BrokerError for a refused login, WrongCluster.
    """
    options = options or SuiteOptions()
    address = Address.parse(address) if isinstance(address, str) else address
    checks = select(options.ids)
    began = time.monotonic()
    # 1.
    await _connect(address)
    # 2.
    first, target = await _examine(address, options)
    if target is None:
        return _not_kafka(address, options, checks, first, on_start, on_result)
    if options.patience is not None:
        target = replace(target, slowness=options.patience / PATIENCE)
    target = replace(target, as_java=options.as_java)
    # 3.
    check_cluster(target, options.cluster)
    # 4.
    leftovers = await _swept(target, options, began + options.limit)
    on_start(SuiteStart(target=target, checks=checks, first=first, leftovers=leftovers))
    on_result(first)
    # 5.
    run = await run_checks(
        checks,
        target,
        restart=options.restart,
        on_result=on_result,
        limit=options.limit,
        spent=time.monotonic() - began,
        refuse=lambda check: why_refused(check, options),
    )
    return replace(run, results=(first, *run.results), seconds=time.monotonic() - began)


def check_cluster(target: Target, cluster: str | None) -> None:
    """Raise WrongCluster unless the id that the user typed is the server's; None passes."""
    if cluster is None:
        return
    if target.cluster_id is None:
        raise WrongCluster(
            f"{target.address} tells no cluster id: destructive checks are not run on it"
        )
    if cluster != target.cluster_id:
        raise WrongCluster(
            f"{target.address} is of cluster {target.cluster_id}, not {cluster}:"
            " destructive checks are not run on it"
        )


def why_refused(check: Check, options: SuiteOptions) -> str:
    """Return why the options do not allow a check; empty if they do."""
    if Need.THROW_AWAY in check.needs and options.cluster is None:
        return NOT_TYPED
    if options.read_only and check.needs & (Need.RESOURCES | Need.THROW_AWAY):
        return READ_ONLY
    return ""


def unfinished(
    start: SuiteStart, results: dict[str, CheckResult], problem: str, seconds: float = 0.0
) -> ConformanceRun:
    """Return the run of results that came before it was stopped; the others are SKIPPED."""
    known = (results.get(check.id) or skipped(check.id, problem) for check in start.checks)
    return ConformanceRun(
        target=start.target, results=(start.first, *known), problem=problem, seconds=seconds
    )


async def _connect(address: Address) -> None:
    """Raise ConnectionFailed unless somebody accepts connections at an address."""
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            _, writer = await asyncio.open_connection(address.host, address.port)
    except OSError as error:
        reason = why_not_bound(error) or f"no answer in {CONNECT_TIMEOUT:g} s"
        text = f"cannot connect to {address}: {reason}; start the node, or check the address"
        raise ConnectionFailed(text) from error
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


async def _swept(target: Target, options: SuiteOptions, end: float) -> Leftovers:
    """Remove what other runs have left, if it is allowed, until the end by the monotonic clock."""
    if not options.read_only:
        with suppress(TimeoutError):
            async with asyncio.timeout(end - time.monotonic()):
                return await sweep(target, all_ages=options.clean)
    return Leftovers()


async def _examine(address: Address, options: SuiteOptions) -> tuple[CheckResult, Target | None]:
    """Return the result of the first check, and the target if it passed."""
    transcript = Transcript()
    result = CheckResult(id=FIRST.id, answer=ConformanceVerdict.FAIL)
    expected = came = ""
    began = time.monotonic()
    try:
        async with asyncio.timeout(options.limit):
            target = await examine_target(address, options.security, options.role, transcript)
    except Deviation as end:
        expected, came = end.expected, end.came
    except ssl.SSLCertVerificationError as error:
        text = f"{address} has a certificate that is not trusted: {error.verify_message}"
        raise ConnectionFailed(text) from error
    except ssl.SSLError as error:
        expected, came = "TLS", f"none: {error.reason or error}"
    except TimeoutError:
        expected, came = "a connection", "nothing: it accepts it, and says no more"
    except OSError as error:
        expected, came = "a connection", error.strerror or str(error) or type(error).__name__
    # The first request and its answer; in front of them there may be a login, of sizes only.
    chunks = tuple([chunk for chunk in transcript.chunks if chunk.data][:2])
    result = replace(result, seconds=time.monotonic() - began, chunks=chunks)
    if expected:
        return replace(result, expected=expected, came=came), None
    return replace(result, answer=ConformanceVerdict.PASS), target


def _not_kafka(
    address: Address,
    options: SuiteOptions,
    checks: tuple[Check, ...],
    first: CheckResult,
    on_start: Callable[[SuiteStart], None],
    on_result: OnResult,
) -> ConformanceRun:
    role = options.role or ServerRole.ANY
    target = Target(address=address, security=options.security, role=role, nodes={})
    start = SuiteStart(target=target, checks=checks, first=first, leftovers=Leftovers())
    on_start(start)
    on_result(first)
    run = unfinished(start, {}, "the server does not answer ApiVersions")
    for result in run.results[1:]:
        on_result(result)
    return run
