"""Checks ZooKeeper alone for what would stop a copy, before there is one (KIP-866)."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.doctor.finding import Finding, FindingVerdict
from kwire.migration.operator.entries import EntryKind
from kwire.migration.operator.facts import ZooKeeperFacts
from kwire.migration.operator.findings import preflight
from kwire.migration.operator.harmful_content import copied, harmful_content
from kwire.migration.operator.report import broken_znodes
from kwire.migration.operator.zookeeper_entries import ZooKeeperReading
from kwire.text.phrases import count, examples
from kwire.zookeeper.znodes import MigrationZnode


def preflight_findings(
    zookeeper: ZooKeeperFacts | None,
    reading: ZooKeeperReading,
    *,
    with_secret: bool,
    has_log: bool = True,
) -> Iterator[Finding]:
    """Yield what the copy would stop at or wait for, what would do harm after it, and the rest.

    zookeeper: None if one of its few znodes cannot be read. with_secret: passwords were decoded.
    has_log: the metadata log was read, and has no copy.
    """
    stops = [*_stops(zookeeper, reading, has_log), *harmful_content(reading)]
    yield from stops
    if reading.encrypted and not with_secret:
        yield preflight.PASSWORDS(
            f"ZooKeeper has {count(len(reading.encrypted), 'encrypted password')}",
            *examples(reading.encrypted),
        )
    if deletions := reading.entries[EntryKind.PENDING_DELETION]:
        text = f"{count(len(deletions), 'topic')} being deleted"
        yield preflight.PENDING_DELETION(text, *examples(sorted(deletions)))
    if reading.reassigned:
        text = f"{count(len(reading.reassigned), 'partition')} being reassigned"
        yield preflight.REASSIGNMENT(text, *examples(reading.reassigned))
    if zookeeper is not None and all(stop.verdict is not FindingVerdict.PROBLEM for stop in stops):
        yield preflight.READABLE(f"nothing stands against a copy of {reading.count} entries")


def copy_failures(reading: ZooKeeperReading) -> Iterator[Finding]:
    """Yield what a copy fails at, in the content of znodes alone."""
    yield from broken_znodes(reading)
    if without_id := copied(reading.without_id, reading):
        text = f"{count(len(without_id), 'topic')} without an id"
        yield preflight.NO_TOPIC_ID(text, *examples(without_id))
    if paths := reading.pair_credentials:
        text = (
            f"SCRAM credentials with the quotas of {count(len(paths), 'pair')} of user and client"
        )
        yield preflight.PAIR_CREDENTIAL(text, *examples(paths))
    if reading.has_empty_producer_ids:
        yield preflight.EMPTY_PRODUCER_IDS("/latest_producer_id_block is empty, and not null")
    if passwords := reading.unencrypted:
        text = f"{count(len(passwords), 'password')} not encrypted"
        yield preflight.PLAIN_PASSWORD(text, *examples(passwords))
    if paths := reading.no_broker_ids:
        text = f"{count(len(paths), 'znode')} with configuration of no broker"
        yield preflight.NO_BROKER_ID(text, *examples(paths))


def left_over_sentence(migration: MigrationZnode, has_log: bool) -> str:
    """Return what is wrong with /migration before there is a copy. has_log: it was read."""
    copied = f"/migration says that a copy was made, up to record {migration.kraft_metadata_offset}"
    if has_log:
        return f"{copied}, while the controllers have none"
    return f"{copied}: the controllers were not asked if they have it"


def _stops(
    zookeeper: ZooKeeperFacts | None, reading: ZooKeeperReading, has_log: bool
) -> Iterator[Finding]:
    yield from copy_failures(reading)
    if zookeeper is None:
        return
    if zookeeper.migration is not None and zookeeper.migration.is_copied:
        yield preflight.FOREIGN_MIGRATION(left_over_sentence(zookeeper.migration, has_log))
    if not zookeeper.broker_ids:
        yield preflight.NO_BROKERS("/brokers/ids is empty")
    else:
        for broker_id in sorted(reading.assigned.keys() - zookeeper.broker_ids):
            if topics := copied(reading.assigned[broker_id], reading):
                text = f"broker {broker_id} has replicas of {count(len(topics), 'topic')}"
                yield preflight.DEAD_BROKER(f"{text} and does not run", *examples(topics))
