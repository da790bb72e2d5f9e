"""Reads ZooKeeper's metadata as entries, all of them or some kinds (KIP-866)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kwire.migration.operator.entries import EntryKind
from kwire.migration.operator.zookeeper_entries import EntryTranslation, ZooKeeperReading
from kwire.zookeeper import ZooKeeper
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.metadata_reader import ReadProgress, no_progress
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.zookeeper_metadata import MetadataPart

TOPICS = frozenset({MetadataPart.TOPICS, MetadataPart.PARTITION_STATES})
PARTS = {
    EntryKind.TOPIC: TOPICS,
    EntryKind.PARTITION: TOPICS,
    EntryKind.CONFIG: {MetadataPart.CONFIGS},
    EntryKind.QUOTA: {MetadataPart.QUOTAS},
    EntryKind.SCRAM: {MetadataPart.QUOTAS},
    EntryKind.ACL: {MetadataPart.ACLS},
    EntryKind.PRODUCER_IDS: {MetadataPart.PRODUCER_IDS},
    EntryKind.TOKEN: {MetadataPart.DELEGATION_TOKENS},
    EntryKind.PENDING_DELETION: {MetadataPart.PENDING_DELETIONS},
}
"""The parts that are read for each kind of entries."""


class ZooKeeperReader:
    """Reads with one session. encoder: decodes passwords; None leaves them encrypted."""

    def __init__(
        self,
        zookeeper: ZooKeeper,
        *,
        encoder: PasswordEncoder | None = None,
        progress: ReadProgress = no_progress,
    ) -> None:
        self._zookeeper = zookeeper
        self._encoder = encoder
        self._progress = progress

    async def read(
        self, kinds: Iterable[EntryKind] = EntryKind, topics: Collection[str] | None = None
    ) -> ZooKeeperReading:
        """Return everything, or only these kinds; a topic's partitions come with it.

        topics: only these; None for all.
        """
        reading = ZooKeeperReading()
        metadata = await read_metadata(
            self._zookeeper,
            parts=set().union(*(PARTS[kind] for kind in kinds)),
            topics=topics,
            progress=self._progress,
            on_invalid=reading.note,
        )
        EntryTranslation(reading, self._encoder).add(metadata)
        return reading
