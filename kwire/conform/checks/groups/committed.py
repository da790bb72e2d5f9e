"""Commits offsets of a topic for a group, and reads them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect, first_error
from kwire.conform.reaction import error_text
from kwire.conform.server import Server
from kwire.conform.whole_answer import filled
from kwire.messages import MetadataRequest, OffsetCommitRequest, OffsetFetchRequest

COMMIT_NAMES, FETCH_NAMES = 9, 9
"""The last versions in which topics have names."""
FETCH_GROUPS = 8
"""The first version of OffsetFetch for many groups (KIP-709)."""
FETCH_IDS = 10
"""The first version of OffsetFetch with topic ids."""


@dataclass(slots=True, kw_only=True)
class CommittedTopic:
    """Offsets of one topic in one group. connection: to the group's coordinator."""

    connection: CheckedConnection
    group: str
    topic: str
    topic_id: UUID

    def forget_id(self) -> None:
        """Go on with a topic id that no topic has."""
        self.topic_id = uuid4()

    async def commit(self, offset: int, *, partition: int = 0, **fields: Any) -> Any:
        """Commit an offset of one partition; return the answer, whatever its error."""
        return await self.commit_partitions(offset, partition, **fields)

    async def commit_partitions(
        self,
        offset: int,
        *partitions: int,
        topic: str = "",
        metadata: str | None = "",
        version: int | None = None,
        committed_leader_epoch: int = -1,
        **fields: Any,
    ) -> Any:
        """Commit an offset of some partitions, by the topic's name unless the version has ids."""
        part = {
            "committed_offset": offset,
            "committed_leader_epoch": committed_leader_epoch,
            "committed_metadata": metadata,
        }
        parts = [{"partition_index": partition, **part} for partition in partitions]
        own = {"name": topic or self.topic, "topic_id": self.topic_id, "partitions": parts}
        request = filled(
            OffsetCommitRequest, **({"group_id": self.group, "topics": [own]} | fields)
        )
        if version is None:
            version = self.connection.version_up_to(request, COMMIT_NAMES)
        return await self.connection.ask_coordinator(request, version)

    async def fetch_group(
        self, partitions: tuple[int, ...] | None, version: int | None = None, **fields: Any
    ) -> Any:
        """Fetch offsets, all of the group's for None; return the part with the topics."""
        name = fields.get("group_id", self.group)
        topics: list[dict[str, Any]] | None = None
        if partitions is not None:
            topics = [{"name": self.topic, "partition_indexes": partitions}]
        by_id = topics and [{**topics[0], "topic_id": self.topic_id}]
        group = {"group_id": name, "topics": by_id, **fields}
        request = filled(OffsetFetchRequest, groups=[group])
        if version is None:
            version = self.connection.version_up_to(request, FETCH_NAMES)
        if version < FETCH_GROUPS:
            request = filled(OffsetFetchRequest, group_id=name, topics=topics)
            return await self.connection.ask_coordinator(request, version)
        return (await self.connection.ask_coordinator(request, version)).groups[0]

    async def fetched(self, partition: int = 0, version: int | None = None, **fields: Any) -> Any:
        """Return the part of a fetch for one partition."""
        group = await self.fetch_group((partition,), version, **fields)
        expect(group.topics, "an answer for the partition", error_text(group.error_code))
        return group.topics[0].partitions[0]


async def new_offsets(server: Server, group: str = "", partitions: int = 1) -> CommittedTopic:
    """Return the offsets of a new topic in a group or a new one."""
    topic = await server.topic(partitions)
    group = group or server.group()
    coordinator = await server.coordinator(group)
    asked = filled(MetadataRequest, topics=[{"name": topic}])

    async def known() -> bool:
        return not first_error(await coordinator.ask(asked))

    await server.wait_for("the topic at the coordinator", known)
    return CommittedTopic(
        connection=coordinator,
        group=group,
        topic=topic,
        topic_id=await server.topic_id(topic),
    )
