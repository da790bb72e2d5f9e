"""OffsetCommit, OffsetFetch and OffsetDelete of classic groups (KIP-211, KIP-496, KIP-709)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.groups.committed import (
    FETCH_GROUPS,
    FETCH_IDS,
    CommittedTopic,
    new_offsets,
)
from kwire.conform.checks.groups.member import stable_member
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, guide, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a09_offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from kwire.messages.a47_offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)

SECTION = CheckSection("groups/offsets", "Offsets of groups")

_CODES = guide("Error Codes")
_COMMIT = schema("OffsetCommitResponse")
_CLASSIC = 8
"""The last version of OffsetCommit that knows classic groups only."""
_BY_ID = 10
"""The first version of OffsetCommit with topic ids (KIP-848)."""
_WITH_EPOCH = 6
"""The first version of OffsetCommit with the leader's epoch (KIP-320)."""


@SECTION.broker_check(1, schema("OffsetCommitRequest", "GenerationIdOrMemberEpoch"))
async def _(server: Server) -> None:
    """A client that is no member commits for a group without members."""
    offsets = await new_offsets(server)
    expect_error(await offsets.commit(5), ErrorCode.NONE)
    expect_equal("offset", (await offsets.fetched()).committed_offset, 5)


@SECTION.broker_check(2, schema("OffsetFetchResponse", "CommittedOffset"))
async def _(server: Server) -> None:
    """The last commit counts, even if its offset is lower."""
    offsets = await new_offsets(server)
    await offsets.commit(5)
    await offsets.commit(3)
    expect_equal("offset", (await offsets.fetched()).committed_offset, 3)


@SECTION.broker_check(4, kafka("OffsetAndMetadata.fromRequest"))
async def _(server: Server) -> None:
    """OffsetFetch returns null metadata as an empty string."""
    offsets = await new_offsets(server)
    expect_error(await offsets.commit(5, metadata=None), ErrorCode.NONE)
    metadata = (await offsets.fetched()).metadata
    if metadata is None:
        raise Deviation("empty metadata", "null", ConformanceVerdict.DIFFERS)
    expect_equal("metadata", metadata, "")


@SECTION.broker_check(5, _CODES)
async def _(server: Server) -> None:
    """Metadata of 30,000 bytes gets OFFSET_METADATA_TOO_LARGE."""
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetCommitRequest, _WITH_EPOCH)
    answer = await offsets.commit(5, metadata="x" * 30_000)
    expect_error(answer, ErrorCode.OFFSET_METADATA_TOO_LARGE, differs=(ErrorCode.NONE,))
    expect_equal("offset", (await offsets.fetched()).committed_offset, -1)


@SECTION.broker_check(6, schema("OffsetFetchResponse", "version 5"))
async def _(server: Server) -> None:
    """OffsetFetch returns the leader epoch of a commit unchanged."""
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetCommitRequest, _WITH_EPOCH)
    await offsets.commit(5, committed_leader_epoch=0)
    expect_equal("epoch", (await offsets.fetched()).committed_leader_epoch, 0)


@SECTION.broker_refuses(8, _CODES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
async def _(server: Server) -> Any:
    """A commit for an unknown partition gets"""
    offsets = await new_offsets(server)
    return await offsets.commit(5, partition=7)


@SECTION.broker_check(9, _CODES)
async def _(server: Server) -> None:
    """Beside an unknown partition the others are committed."""
    offsets = await new_offsets(server)
    answer = await offsets.commit_partitions(5, 0, 7)
    codes = {p.partition_index: p.error_code for p in answer.topics[0].partitions}
    expect_equal("errors", codes, {0: ErrorCode.NONE, 7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
    expect_equal("offset", (await offsets.fetched()).committed_offset, 5)


@SECTION.broker_refuses(10, _COMMIT, ErrorCode.ILLEGAL_GENERATION)
async def _(server: Server) -> Any:
    """Up to v8 a member's commit for an unknown group gets"""
    offsets = await new_offsets(server)
    numbers: dict[str, Any] = {"generation_id_or_member_epoch": 1, "member_id": "nobody"}
    return await offsets.commit(5, version=_CLASSIC, **numbers)


@SECTION.broker_refuses(11, _COMMIT, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.ILLEGAL_GENERATION)
async def _(server: Server) -> Any:
    """From v9 on a member of an unknown group gets GROUP_ID_NOT_FOUND or ILLEGAL_GENERATION."""
    offsets = await new_offsets(server)
    numbers: dict[str, Any] = {"generation_id_or_member_epoch": 1, "member_id": "nobody"}
    return await offsets.commit(5, version=_CLASSIC + 1, **numbers)


@SECTION.broker_check(12, schema("OffsetCommitRequest", "GenerationIdOrMemberEpoch"))
async def _(server: Server) -> None:
    """A member commits with its generation."""
    member = await stable_member(server)
    offsets = await new_offsets(server, member.group)
    numbers: dict[str, Any] = {
        "member_id": member.member_id,
        "generation_id_or_member_epoch": member.generation,
    }
    expect_error(await offsets.commit(5, **numbers), ErrorCode.NONE)
    expect_equal("offset", (await offsets.fetched()).committed_offset, 5)


def _refuses(what: str, code: ErrorCode, **fields: Any) -> Any:
    @broker_scenario(f"In a group with members a commit {what} gets {code.name}.", _COMMIT)
    async def refuses(server: Server) -> None:
        member = await stable_member(server)
        offsets = await new_offsets(server, member.group)
        numbers: dict[str, Any] = {
            "member_id": member.member_id,
            "generation_id_or_member_epoch": member.generation,
        }
        expect_error(await offsets.commit(5, **(numbers | fields)), code)

    return refuses


SECTION[13] = _refuses("by an unknown member", ErrorCode.UNKNOWN_MEMBER_ID, member_id="nobody")
SECTION[14] = _refuses(
    "with another generation", ErrorCode.ILLEGAL_GENERATION, generation_id_or_member_epoch=7
)
SECTION[15] = _refuses(
    "of a client that is no member",
    ErrorCode.UNKNOWN_MEMBER_ID,
    member_id="",
    generation_id_or_member_epoch=-1,
)


@SECTION.broker_check(16, schema("OffsetFetchResponse", "CommittedOffset"))
async def _(server: Server) -> None:
    """A partition without a commit has the offset -1 and no error."""
    offsets = await new_offsets(server)
    partition = await offsets.fetched()
    expect_equal("error", partition.error_code, 0)
    expect_equal("offset", partition.committed_offset, -1)


@SECTION.broker_check(17, schema("OffsetFetchRequest", "Topics"))
async def _(server: Server) -> None:
    """Without topics OffsetFetch returns all offsets of the group, and no others."""
    offsets = await new_offsets(server, partitions=2)
    await offsets.commit(5, partition=1)
    group = await offsets.fetch_group(None)
    fetched = [(t.name, [p.partition_index for p in t.partitions]) for t in group.topics]
    expect_equal("topics", fetched, [(offsets.topic, [1])])


@SECTION.broker_check(18, schema("OffsetFetchResponse", "Groups"))
async def _(server: Server) -> None:
    """From v8 on OffsetFetch answers each group for itself."""
    first = await new_offsets(server)
    await first.commit(5)
    name = server.name()
    groups = [OffsetFetchRequestGroup(group_id=g, topics=None) for g in (first.group, name)]
    answer = await first.connection.ask_coordinator(OffsetFetchRequest(groups=groups), FETCH_GROUPS)
    topics = {group.group_id: len(group.topics) for group in answer.groups}
    expect_equal("topics of the groups", topics, {first.group: 1, name: 0})


@SECTION.broker_refuses(
    20, schema("OffsetCommitResponse", "version 10"), ErrorCode.UNKNOWN_TOPIC_ID
)
async def _(server: Server) -> Any:
    """A topic id that no topic has gets UNKNOWN_TOPIC_ID in OffsetCommit."""
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetCommitRequest, _BY_ID)
    offsets.forget_id()
    return await offsets.commit(5, version=_BY_ID)


@SECTION.broker_refuses(21, schema("OffsetFetchResponse", "version 10"), ErrorCode.UNKNOWN_TOPIC_ID)
async def _(server: Server) -> Any:
    """A topic id that no topic has gets UNKNOWN_TOPIC_ID in OffsetFetch."""
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetFetchRequest, FETCH_IDS)
    offsets.forget_id()
    return await offsets.fetched(version=FETCH_IDS)


async def _delete(offsets: CommittedTopic, **fields: Any) -> Any:
    partition = OffsetDeleteRequestPartition(partition_index=0)
    topic = OffsetDeleteRequestTopic(name=offsets.topic, partitions=[partition])
    request = OffsetDeleteRequest(**({"group_id": offsets.group, "topics": [topic]} | fields))
    return await offsets.connection.ask_coordinator(request)


@SECTION.broker_check(22, kip(496, "Public Interfaces"))
async def _(server: Server) -> None:
    """OffsetDelete forgets the offset of a partition."""
    offsets = await new_offsets(server, partitions=2)
    await offsets.commit_partitions(5, 0, 1)
    expect_error(await _delete(offsets), ErrorCode.NONE)
    expect_equal("offset", (await offsets.fetched()).committed_offset, -1)
    expect_equal("offset of the other", (await offsets.fetched(1)).committed_offset, 5)


@SECTION.broker_refuses(23, kip(496, "Public Interfaces"), ErrorCode.GROUP_ID_NOT_FOUND)
async def _(server: Server) -> Any:
    """OffsetDelete of an unknown group gets"""
    offsets = await new_offsets(server)
    return await _delete(offsets)


@SECTION.broker_refuses(24, kip(496, "Public Interfaces"), ErrorCode.NON_EMPTY_GROUP)
async def _(server: Server) -> Any:
    """OffsetDelete of a group whose members are no consumers gets"""
    member = await stable_member(server)
    return await _delete(await new_offsets(server, member.group))
