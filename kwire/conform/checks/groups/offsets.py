"""OffsetCommit, OffsetFetch and OffsetDelete of classic groups (KIP-211, KIP-496, KIP-709)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.groups.committed import (
    FETCH_GROUPS,
    FETCH_IDS,
    CommittedOffsets,
    new_offsets,
)
from kwire.conform.checks.groups.member import stable_member
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import guide, kafka, kip, schema
from kwire.conform.verdict import ConformanceVerdict, Deviation
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a09_offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from kwire.messages.a47_offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)

_OFFSETS = guide("Offset Commit/Fetch API")
_CLASSIC = 8
"""The last version of OffsetCommit that knows classic groups only."""
_BY_ID = 10
"""The first version of OffsetCommit with topic ids (KIP-848)."""
_WITH_EPOCH = 6
"""The first version of OffsetCommit with the leader's epoch (KIP-320)."""


@broker_scenario("A client that is no member commits for a group without members.", _OFFSETS)
async def _simple(server: Server) -> None:
    offsets = await new_offsets(server)
    expect_error(await offsets.commit(5), 0)
    expect_equal("offset", (await offsets.fetched()).committed_offset, 5)


@broker_scenario("The last commit counts, even if its offset is lower.", _OFFSETS)
async def _last_counts(server: Server) -> None:
    offsets = await new_offsets(server)
    await offsets.commit(5)
    await offsets.commit(3)
    expect_equal("offset", (await offsets.fetched()).committed_offset, 3)


@broker_scenario("OffsetFetch returns the metadata of a commit unchanged.", _OFFSETS)
async def _metadata(server: Server) -> None:
    offsets = await new_offsets(server)
    await offsets.commit(5, metadata="kwire é")
    expect_equal("metadata", (await offsets.fetched()).metadata, "kwire é")


@broker_scenario(
    "OffsetFetch returns null metadata as an empty string.",
    kafka("GroupMetadataManager.commitOffset"),
)
async def _null_metadata(server: Server) -> None:
    offsets = await new_offsets(server)
    expect_error(await offsets.commit(5, metadata=None), 0)
    metadata = (await offsets.fetched()).metadata
    if metadata is None:
        raise Deviation("empty metadata", "null", ConformanceVerdict.DIFFERS)
    expect_equal("metadata", metadata, "")


@broker_scenario("Metadata of 30,000 bytes gets OFFSET_METADATA_TOO_LARGE.", _OFFSETS)
async def _large_metadata(server: Server) -> None:
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetCommitRequest, _WITH_EPOCH)
    answer = await offsets.commit(5, metadata="x" * 30_000)
    expect_error(answer, 12, differs=(0,))
    expect_equal("offset", (await offsets.fetched()).committed_offset, -1)


@broker_scenario("OffsetFetch returns the leader epoch of a commit unchanged.", kip(320))
async def _epoch(server: Server) -> None:
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetCommitRequest, _WITH_EPOCH)
    await offsets.commit(5, committed_leader_epoch=0)
    expect_equal("epoch", (await offsets.fetched()).committed_leader_epoch, 0)


@broker_scenario("A commit for an unknown topic gets UNKNOWN_TOPIC_OR_PARTITION.", _OFFSETS)
async def _unknown_topic(server: Server) -> None:
    offsets = await new_offsets(server)
    expect_error(await offsets.commit(5, topic=server.name()), 3)


@broker_scenario("A commit for an unknown partition gets UNKNOWN_TOPIC_OR_PARTITION.", _OFFSETS)
async def _unknown_partition(server: Server) -> None:
    offsets = await new_offsets(server)
    expect_error(await offsets.commit(5, partition=7), 3)


@broker_scenario("Beside an unknown partition the others are committed.", _OFFSETS)
async def _beside_unknown(server: Server) -> None:
    offsets = await new_offsets(server)
    answer = await offsets.commit_partitions(5, 0, 7)
    codes = {p.partition_index: p.error_code for p in answer.topics[0].partitions}
    expect_equal("errors", codes, {0: 0, 7: 3})
    expect_equal("offset", (await offsets.fetched()).committed_offset, 5)


@broker_scenario(
    "Up to v8 a member's commit for an unknown group gets ILLEGAL_GENERATION.", _OFFSETS
)
async def _member_of_nothing(server: Server) -> None:
    offsets = await new_offsets(server)
    numbers: dict[str, Any] = {"generation_id_or_member_epoch": 1, "member_id": "nobody"}
    expect_error(await offsets.commit(5, version=_CLASSIC, **numbers), 22)


@broker_scenario(
    "From v9 on it gets GROUP_ID_NOT_FOUND, or ILLEGAL_GENERATION without the new coordinator.",
    kip(848),
)
async def _unknown_group(server: Server) -> None:
    offsets = await new_offsets(server)
    numbers: dict[str, Any] = {"generation_id_or_member_epoch": 1, "member_id": "nobody"}
    expect_error(await offsets.commit(5, version=_CLASSIC + 1, **numbers), 69, 22)


@broker_scenario("A member commits with its generation.", _OFFSETS)
async def _member(server: Server) -> None:
    member = await stable_member(server)
    offsets = await new_offsets(server, member.group)
    numbers: dict[str, Any] = {
        "member_id": member.member_id,
        "generation_id_or_member_epoch": member.generation,
    }
    expect_error(await offsets.commit(5, **numbers), 0)
    expect_equal("offset", (await offsets.fetched()).committed_offset, 5)


def _refuses(what: str, code: int, error: str, **fields: Any) -> Any:
    @broker_scenario(f"In a group with members a commit {what} gets {error}.", _OFFSETS)
    async def refuses(server: Server) -> None:
        member = await stable_member(server)
        offsets = await new_offsets(server, member.group)
        numbers: dict[str, Any] = {
            "member_id": member.member_id,
            "generation_id_or_member_epoch": member.generation,
        }
        expect_error(await offsets.commit(5, **(numbers | fields)), code)

    return refuses


@broker_scenario("A partition without a commit has the offset -1 and no error.", _OFFSETS)
async def _never_committed(server: Server) -> None:
    offsets = await new_offsets(server)
    partition = await offsets.fetched()
    expect_equal("error", partition.error_code, 0)
    expect_equal("offset", partition.committed_offset, -1)
    expect_equal("metadata", partition.metadata, "")


@broker_scenario(
    "Without topics OffsetFetch returns all offsets of the group, and no others.",
    schema("OffsetFetchRequest", "Topics"),
)
async def _all_topics(server: Server) -> None:
    offsets = await new_offsets(server, partitions=2)
    await offsets.commit(5, partition=1)
    group = await offsets.fetch_group(None)
    fetched = [(t.name, [p.partition_index for p in t.partitions]) for t in group.topics]
    expect_equal("topics", fetched, [(offsets.topic, [1])])


@broker_scenario("From v8 on OffsetFetch answers each group for itself.", kip(709))
async def _many_groups(server: Server) -> None:
    first = await new_offsets(server)
    await first.commit(5)
    name = server.name()
    groups = [OffsetFetchRequestGroup(group_id=g, topics=None) for g in (first.group, name)]
    answer = await first.connection.ask_coordinator(OffsetFetchRequest(groups=groups), FETCH_GROUPS)
    topics = {group.group_id: len(group.topics) for group in answer.groups}
    expect_equal("topics of the groups", topics, {first.group: 1, name: 0})


@broker_scenario("From v10 on offsets are committed and fetched by topic id.", kip(848))
async def _by_id(server: Server) -> None:
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetFetchRequest, FETCH_IDS)
    expect_error(await offsets.commit(5, version=_BY_ID), 0)
    partition = await offsets.fetched(version=FETCH_IDS)
    expect_equal("offset", partition.committed_offset, 5)


@broker_scenario("A topic id that no topic has gets UNKNOWN_TOPIC_ID in OffsetCommit.", kip(848))
async def _unknown_id(server: Server) -> None:
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetCommitRequest, _BY_ID)
    offsets.forget_id()
    expect_error(await offsets.commit(5, version=_BY_ID), 100)


@broker_scenario("A topic id that no topic has gets UNKNOWN_TOPIC_ID in OffsetFetch.", kip(848))
async def _fetch_unknown_id(server: Server) -> None:
    offsets = await new_offsets(server)
    offsets.connection.demand(OffsetFetchRequest, FETCH_IDS)
    offsets.forget_id()
    expect_error(await offsets.fetched(version=FETCH_IDS), 100)


async def _delete(offsets: CommittedOffsets, **fields: Any) -> Any:
    partition = OffsetDeleteRequestPartition(partition_index=0)
    topic = OffsetDeleteRequestTopic(name=offsets.topic, partitions=[partition])
    request = OffsetDeleteRequest(**({"group_id": offsets.group, "topics": [topic]} | fields))
    return await offsets.connection.ask_coordinator(request)


@broker_scenario("OffsetDelete forgets the offset of a partition.", kip(496))
async def _deleted(server: Server) -> None:
    offsets = await new_offsets(server, partitions=2)
    await offsets.commit_partitions(5, 0, 1)
    expect_error(await _delete(offsets), 0)
    expect_equal("offset", (await offsets.fetched()).committed_offset, -1)
    expect_equal("offset of the other", (await offsets.fetched(1)).committed_offset, 5)


@broker_scenario("OffsetDelete of an unknown group gets GROUP_ID_NOT_FOUND.", kip(496))
async def _delete_unknown(server: Server) -> None:
    offsets = await new_offsets(server)
    expect_error(await _delete(offsets), 69)


@broker_scenario(
    "OffsetDelete of a group whose members are no consumers gets NON_EMPTY_GROUP.", kip(496)
)
async def _delete_of_members(server: Server) -> None:
    member = await stable_member(server)
    expect_error(await _delete(await new_offsets(server, member.group)), 68)


SECTION = CheckSection(
    "groups/offsets",
    "Offsets of groups",
    {
        1: _simple,
        2: _last_counts,
        3: _metadata,
        4: _null_metadata,
        5: _large_metadata,
        6: _epoch,
        7: _unknown_topic,
        8: _unknown_partition,
        9: _beside_unknown,
        10: _member_of_nothing,
        11: _unknown_group,
        12: _member,
        13: _refuses("by an unknown member", 25, "UNKNOWN_MEMBER_ID", member_id="nobody"),
        14: _refuses(
            "with another generation",
            22,
            "ILLEGAL_GENERATION",
            generation_id_or_member_epoch=7,
        ),
        15: _refuses(
            "of a client that is no member",
            25,
            "UNKNOWN_MEMBER_ID",
            member_id="",
            generation_id_or_member_epoch=-1,
        ),
        16: _never_committed,
        17: _all_topics,
        18: _many_groups,
        19: _by_id,
        20: _unknown_id,
        21: _fetch_unknown_id,
        22: _deleted,
        23: _delete_unknown,
        24: _delete_of_members,
    },
)
