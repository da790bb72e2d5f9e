"""Compares the entries of ZooKeeper with those of the metadata image (KIP-866).

A difference is judged by what Kafka itself does with it: some are of no consequence, each of the
others is a dual write that failed, and is not repeated before the next synchronisation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kwire.image.producer_ids import BLOCK_SIZE
from kwire.migration.operator.entries import EncryptedValue, EntriesByKind, EntryKind, HiddenValue


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDifference:
    """One value that differs. field: empty if only one side has the entry.

    zookeeper, kraft: None where it is not there; a secret does not print itself.
    """

    kind: EntryKind
    name: str
    field: str = ""
    zookeeper: object = None
    kraft: object = None

    @property
    def is_missing(self) -> bool:
        """True if ZooKeeper lacks the whole entry."""
        return not self.field and self.zookeeper is None

    @property
    def is_extra(self) -> bool:
        """True if only ZooKeeper has the entry."""
        return not self.field and self.kraft is None


def differences(zookeeper: EntriesByKind, kraft: EntriesByKind) -> Iterator[EntryDifference]:
    """Yield what differs, by kind, then by name, then by field."""
    for kind in EntryKind:
        old, new = zookeeper.get(kind, {}), kraft.get(kind, {})
        # Of most clusters nearly all is equal: only the rest is sorted.
        names = {name for name, fields in new.items() if old.get(name) != fields}
        names |= old.keys() - new.keys()
        for name in sorted(names):
            yield from _of_entry(kind, name, old.get(name), new.get(name))


def _of_entry(
    kind: EntryKind,
    name: str,
    zookeeper: Mapping[str, object] | None,
    kraft: Mapping[str, object] | None,
) -> Iterator[EntryDifference]:
    # An empty configuration and none are the same.
    if not zookeeper and not kraft and kind is not EntryKind.PENDING_DELETION:
        return
    if zookeeper is None or kraft is None:
        yield EntryDifference(
            kind=kind,
            name=name,
            zookeeper=None if zookeeper is None else dict(zookeeper),
            kraft=None if kraft is None else dict(kraft),
        )
        return
    for field in sorted(zookeeper.keys() | kraft.keys()):
        values = zookeeper.get(field), kraft.get(field)
        if values[0] != values[1]:
            yield EntryDifference(
                kind=kind, name=name, field=field, zookeeper=values[0], kraft=values[1]
            )


def harmless_reason(difference: EntryDifference) -> str:
    """Return why a difference is of no consequence; empty if it is of some."""
    kind, field = difference.kind, difference.field
    if is_copied_encrypted(difference):
        return ""
    if kind is EntryKind.PARTITION and field == "partitionEpoch":
        return (
            "in ZooKeeper it is the version of the znode, which counts writes; ZooKeeper brokers"
            " take it from there again after a rollback"
        )
    if kind is EntryKind.PRODUCER_IDS and _is_one_block_ahead(difference):
        return (
            f"Kafka writes the next block as if it were given already: {BLOCK_SIZE} ids are skipped"
        )
    if kind is EntryKind.CONFIG and difference.is_missing and not _is_in_zookeeper(difference.name):
        return "ZooKeeper has no place for configuration of this kind"
    if isinstance(difference.zookeeper, EncryptedValue) and difference.kraft is not None:
        return "not compared: ZooKeeper has it encrypted; give --password-encoder-secret"
    return ""


def is_copied_encrypted(difference: EntryDifference) -> bool:
    """True if the metadata log has a password in the form in which ZooKeeper has it."""
    zookeeper, kraft = difference.zookeeper, difference.kraft
    if not isinstance(kraft, HiddenValue):
        return False
    if isinstance(zookeeper, EncryptedValue):
        return zookeeper.digest == kraft.digest
    return isinstance(zookeeper, HiddenValue) and zookeeper.encrypted == kraft.digest


def _is_one_block_ahead(difference: EntryDifference) -> bool:
    zookeeper, kraft = difference.zookeeper, difference.kraft
    return isinstance(zookeeper, int) and isinstance(kraft, int) and zookeeper - kraft == BLOCK_SIZE


def _is_in_zookeeper(config: str) -> bool:
    return config.startswith(("topic ", "broker "))
