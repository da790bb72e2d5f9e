"""Steps by Kafka's tools that are about records and groups of every kind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from kwire.error_codes import ErrorCode
from kwire.messages.a88_streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    Topology,
)
from kwire.net.connection import Connection
from tests.support.controller.live.tool_step import (
    CONFIGS,
    SERVERS,
    TOOLS,
    CallStep,
    ToolStep,
    step,
)

MEMBER = "a-member-of-a-streams-group"


def streams_member(servers: str) -> list[str]:
    """Join a streams group of one topology, which reads the topic w, and leave it."""
    return asyncio.run(_joined_and_left(servers.split(",")))


async def _joined_and_left(servers: list[str]) -> list[str]:
    topology = Topology(
        epoch=0, subtopologies=[Subtopology(subtopology_id="0", source_topics=("w",))]
    )
    joining = StreamsGroupHeartbeatRequest(
        group_id="st",
        member_id=MEMBER,
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        process_id="process",
        topology=topology,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
    )
    leaving = joining.replace(member_epoch=-1, topology=None)
    found: list[str] = []
    for request in (joining, leaving):
        # The group's coordinator is one of the brokers, and may have to load first.
        for attempt in range(ATTEMPTS):
            code = await _heartbeat(servers[attempt % len(servers)], request)
            if code not in (ErrorCode.NOT_COORDINATOR, *COMING):
                break
            await asyncio.sleep(PAUSE)
        found.append(f"error code {code}")
    return found


async def _heartbeat(server: str, request: StreamsGroupHeartbeatRequest) -> int:
    host, _, port = server.rpartition(":")
    async with await Connection.open(host, int(port)) as connection:
        answer = await connection.send(request, 0, timeout=60)
    assert isinstance(answer, StreamsGroupHeartbeatResponse)
    return answer.error_code


ATTEMPTS, PAUSE = 60, 0.5
COMING = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE)


def groups() -> Iterator[ToolStep | CallStep]:
    """Records, and groups of every kind."""
    yield step("TopicCommand", "--create --topic w --replica-assignment 1:2")
    yield ToolStep(
        name="ConsoleProducer --topic w",
        words=(f"{TOOLS}ConsoleProducer", *SERVERS, "--topic", "w"),
        text="one\ntwo\nthree\n",
    )
    for group, protocol in (("g1", "classic"), ("g2", "consumer")):
        yield step(
            "consumer.ConsoleConsumer",
            f"--topic w --group {group} --from-beginning --max-messages 3 --timeout-ms 30000"
            f" --consumer-property group.protocol={protocol}",
        )
    for words in (
        "--list",
        "--describe --group g1",
        "--describe --group g2",
        "--describe --group nobody",
        "--describe --group g1 --state",
        "--reset-offsets --group g1 --topic w --to-earliest --dry-run",
        "--reset-offsets --group g1 --topic w --to-earliest --execute",
        "--delete-offsets --group g1 --topic w",
        "--delete --group g1",
        "--delete --group nobody",
    ):
        yield step("consumer.group.ConsumerGroupCommand", words)
    yield from share_groups()
    yield from streams_groups()
    yield from every_kind()


def share_groups() -> Iterator[ToolStep]:
    """A share group reads the records of w, is shown, reset and deleted."""
    tool = "consumer.group.ShareGroupCommand"
    from_start = "--add-config share.auto.offset.reset=earliest"
    yield step(CONFIGS, f"--alter --entity-type groups --entity-name sg {from_start}")
    yield step(
        "consumer.ConsoleShareConsumer",
        "--topic w --group sg --max-messages 3 --timeout-ms 60000",
    )
    for words in (
        "--list",
        "--list --state",
        "--describe --group sg",
        "--describe --group sg --state",
        "--describe --group sg --members",
        "--describe --all-groups",
        "--describe --group nobody",
        "--describe --group g2",
        "--reset-offsets --group sg --topic w --to-earliest --dry-run",
        "--reset-offsets --group sg --topic w --to-earliest --execute",
        "--delete-offsets --group sg --topic w",
        "--delete-offsets --group sg --topic nothing",
        "--delete --group g2",
        "--delete --group nobody",
    ):
        yield step(tool, words)


def streams_groups() -> Iterator[ToolStep | CallStep]:
    """A streams group has had a member, which left; it is shown, reset and deleted."""
    tool = "streams.StreamsGroupCommand"
    yield CallStep(name="a member of a streams group comes and goes", call=streams_member)
    for words in (
        "--list",
        "--list --state",
        "--describe --group st",
        "--describe --group st --state",
        "--describe --group st --members",
        "--describe --group nobody",
        "--describe --group sg",
        "--reset-offsets --group st --input-topic w --to-earliest --dry-run",
        "--delete-offsets --group st --input-topic w",
        "--delete --group g2",
        "--delete --group nobody",
    ):
        yield step(tool, words)


def every_kind() -> Iterator[ToolStep]:
    """Groups of all kinds in one list, and the deletion of each by its tool."""
    for words in (
        "--list",
        "--list --consumer",
        "--list --share",
        "--list --streams",
        "--list --group-type classic",
        "--list --group-type consumer",
        "--list --group-type share",
        "--list --group-type streams",
        "--list --group-type none",
        "--list --protocol share",
        "--list --protocol consumer --group-type consumer",
    ):
        yield step("GroupsCommand", words)
    for tool, group in (
        ("consumer.group.ConsumerGroupCommand", "g2"),
        ("consumer.group.ShareGroupCommand", "sg"),
        ("streams.StreamsGroupCommand", "st"),
    ):
        for words in (f"--delete --group {group}", f"--describe --group {group}"):
            yield step(tool, words)
    yield step("GroupsCommand", "--list")


def transactions() -> Iterator[ToolStep]:
    """Transactions, offsets, metrics of clients, and the end of the topics."""
    for words in ("list", "describe --transactional-id nobody", "describe-producers"):
        yield step("TransactionsCommand", words)
    for words in ("--topic w", "--topic w --time -2", "--topic nothing", "--topic-partitions w:0"):
        yield step("GetOffsetShell", words)
    for words in (
        "--alter --name m2 --interval 5000 --metrics a.",
        "--describe --name m2",
        "--alter --name m2 --interval 1",
        "--list",
        "--delete --name m2",
    ):
        yield step("ClientMetricsCommand", words)
    for words in ("--describe --topic b", "--delete --topic w", "--delete --topic b", "--list"):
        yield step("TopicCommand", words)
