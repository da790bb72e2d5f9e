"""All checks, in the order of the report, and those that a command asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module

from kwire.conform.check import Check, CheckSection
from kwire.conform.first_check import FIRST
from kwire.errors import InvalidValue

SECTIONS = (
    "versions.kip_35",
    "versions.kip_511",
    "versions.kip_584",
    "versions.kip_1242",
    "frames.sizes",
    "frames.delivery",
    "frames.headers",
    "frames.strangers",
    "malformed.lengths",
    "malformed.bodies",
    "malformed.batches",
    "pairs.answers",
    "records.produce",
    "records.fetch",
    "records.sessions",
    "records.offsets",
    "records.epochs",
    "metadata.metadata",
    "metadata.topic_partitions",
    "cluster.describe_cluster",
    "cluster.find_coordinator",
    "topics.create",
    "topics.created",
    "topics.delete",
    "topics.grow",
    "configs.describe",
    "configs.incremental",
    "admin.quotas",
    "admin.scram",
    "admin.replicas",
    "admin.tokens",
    "admin.log_dirs",
    "admin.transactions",
    "producers.producer_ids",
    "producers.sequences",
    "transactions.partitions",
    "transactions.ends",
    "transactions.isolation",
    "transactions.produce",
    "transactions.offsets",
    "transactions.kip_890",
    "transactions.states",
    "partitions.kip_841.alter_partition",
    "partitions.kip_841.log",
    "partitions.kip_841.eligibility",
    "features.kip_584",
    "migration.kip_866",
    "registration.brokers",
    "registration.own_brokers",
    "controllers.kip_919_endpoints",
    "controllers.kip_919_apis",
    "controllers.kip_919_operations",
    "controllers.kip_919_inactive",
    "controllers.kip_590",
    "quorum.kip_853.voters",
    "quorum.kip_853.updates",
    "quorum.kip_853.describe",
    "quorum.kip_853.vote",
    "quorum.kip_853.epochs",
    "quorum.kip_853.fetch",
    "quorum.kip_853.snapshots",
    "quorum.kip_853.log",
    "quorum.kip_853.changes",
    "groups.join",
    "groups.members",
    "groups.static_members",
    "groups.offsets",
    "groups.states",
    "groups.kip_848",
    "security.plaintext",
    "security.handshake",
    "security.authenticate",
    "security.plain",
    "security.scram",
    "security.reauthentication",
    "security.tls",
    "login.answers",
    "login.effects",
    "share.members",
    "share.sessions",
    "share.offsets",
    "streams.members",
)
"""The modules of `kwire.conform.checks` that have a SECTION, in the order of the report."""


def sections() -> Iterator[CheckSection]:
    """Yield all sections."""
    for module in SECTIONS:
        yield import_module(f"kwire.conform.checks.{module}").SECTION


@cache
def section_title(path: str) -> str:
    """Return the title of a section, the path for one that is not known."""
    if path == FIRST.id.rpartition("/")[0]:
        return "Before everything else"
    return next((section.title for section in sections() if section.path == path), path)


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check with its id. Raises AssertionError where an id is given twice."""
    checks = tuple(check for section in sections() for check in section)
    assert len({check.id for check in checks}) == len(checks), "an id is given twice"
    return checks


def select(ids: Iterable[str]) -> tuple[Check, ...]:
    """Return the checks with these ids, or below them, as `quorum/kip-853`; without ids all.

    FIRST, which every run has, is not among them.

    Raises InvalidValue for an id that no check has.
    """
    wanted = tuple(dict.fromkeys(ids))
    for name in wanted:
        if not any(_below(check.id, name) for check in (FIRST, *all_checks())):
            raise InvalidValue(f"no check is called {name!r}: see --list")
    return tuple(c for c in all_checks() if not wanted or any(_below(c.id, n) for n in wanted))


def check_of(name: str) -> Check:
    """Return the check with this id, or that of a family with this member. Raises InvalidValue."""
    for check in (FIRST, *all_checks()):
        if name == check.id or (check.members and name.startswith(f"{check.id}/")):
            return check
    raise InvalidValue(f"no check is called {name!r}: see --list")


def _below(check_id: str, name: str) -> bool:
    return check_id == name or check_id.startswith(f"{name.rstrip('/')}/")
