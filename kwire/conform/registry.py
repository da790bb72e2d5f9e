"""All checks, in the order of the report, and those that a command asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module

from kwire.conform.check import FIRST, Check, CheckSection
from kwire.errors import InvalidValue

SECTIONS = {
    "versions": "kip_35 kip_511 kip_584 kip_1242",
    "frames": "sizes delivery headers strangers",
    "malformed": "lengths bodies batches",
    "pairs": "",
    "records": "produce fetch sessions offsets epochs",
    "metadata": "metadata topic_partitions",
    "cluster": "describe_cluster find_coordinator",
    "topics": "create created delete grow",
    "configs": "describe incremental",
    "admin": "quotas scram replicas tokens log_dirs transactions",
    "producers": "producer_ids sequences",
    "transactions": "partitions ends isolation produce offsets kip_890 states",
    "partitions": "alter_partition log eligibility",
    "features": "",
    "migration": "",
    "registration": "brokers own_brokers",
    "controllers": "kip_919_endpoints kip_919_apis kip_919_operations kip_919_inactive kip_590",
    "quorum": "voters updates describe vote epochs fetch snapshots log changes",
    "groups": "join members static_members offsets states kip_848",
    "security": "plaintext handshake authenticate plain scram reauthentication tls",
    "login": "answers effects",
    "share": "members sessions offsets",
    "streams": "members",
    "answers": (
        "metadata groups configs admin refusals access records topics transactions quorum"
        " controllers share streams"
    ),
}
"""The modules of each group of `kwire.conform.checks` with a SECTION, in the report's order."""


def sections() -> Iterator[CheckSection]:
    """Yield all sections."""
    for module in section_modules():
        yield import_module(f"kwire.conform.checks.{module}").SECTION


def section_modules() -> Iterator[str]:
    """Yield the modules with a SECTION, from `kwire.conform.checks` on: `versions.kip_511`."""
    for group, names in SECTIONS.items():
        yield from (f"{group}.{name}" for name in names.split()) if names else [group]


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
            raise InvalidValue(f"no check is called {name!r}: see `kwire conform --list`")
    return tuple(c for c in all_checks() if not wanted or any(_below(c.id, n) for n in wanted))


def check_of(name: str) -> Check:
    """Return the check with this id, or that of a family with this member. Raises InvalidValue."""
    for check in (FIRST, *all_checks()):
        if name == check.id or (check.members and name.startswith(f"{check.id}/")):
            return check
    raise InvalidValue(f"no check is called {name!r}: see `kwire conform --list`")


def _below(check_id: str, name: str) -> bool:
    return check_id == name or check_id.startswith(f"{name.rstrip('/')}/")
