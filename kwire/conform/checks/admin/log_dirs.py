"""Log directories (KIP-113, KIP-827; Java: ReplicaManager) and resources with configuration."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.records.log import CheckedLog, new_log
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a34_alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kwire.messages.a35_describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from kwire.messages.a74_list_config_resources import ListConfigResourcesRequest

SECTION = CheckSection("admin/log-dirs", "Log directories and resources with configuration")

_DIRECTORIES = kip(113, "Public Interfaces")
_NO_TYPE = 99


async def _describe(log: CheckedLog, *topics: str) -> Any:
    wanted = [DescribableLogDirTopic(topic=topic, partitions=(0,)) for topic in topics]
    answer = await log.leader.ask(DescribeLogDirsRequest(topics=wanted))
    expect_error(answer, ErrorCode.NONE)
    return answer


def _sizes(answer: Any, name: str) -> list[int]:
    """Return the sizes of a topic's replicas, one for each directory that has one."""
    return [
        partition.partition_size
        for directory in answer.results
        for topic in directory.topics
        if topic.name == name
        for partition in topic.partitions
    ]


@SECTION.broker_check(1, _DIRECTORIES)
async def _(server: Server) -> None:
    """Null stands for all topics, and every directory is named."""
    log = await new_log(server)
    await log.append()
    answer = await log.leader.ask(DescribeLogDirsRequest(topics=None))
    expect_error(answer, ErrorCode.NONE)
    expect(_sizes(answer, log.topic), f"{log.topic} among the topics", "not there")
    names = [directory.log_dir for directory in answer.results]
    expect(names and all(names), "directories", names)


@SECTION.broker_check(3, _DIRECTORIES)
async def _(server: Server) -> None:
    """A topic that does not exist is left out, without an error."""
    log = CheckedLog(leader=await server.connection(), topic=server.name())
    answer = await _describe(log, log.topic)
    expect_equal("replicas", _sizes(answer, log.topic), [])


@SECTION.check(4, kip(827, "Public Interfaces"), role=ServerRole.BROKER)
async def _(server: Server) -> None:
    """From v4 on the answer has the total and the free bytes of a directory."""
    (await server.connection()).demand_since(DescribeLogDirsRequest, 4)
    answer = await server.ask(DescribeLogDirsRequest(topics=[]))
    whole = [directory for directory in answer.results if not directory.error_code]
    came = [(directory.total_bytes, directory.usable_bytes) for directory in whole]
    holds = came and all(0 <= free <= total > 0 for total, free in came)
    expect(holds, "directories with free of so many bytes", came)


@SECTION.broker_refuses(5, _DIRECTORIES, ErrorCode.LOG_DIR_NOT_FOUND)
async def _(server: Server) -> Any:
    """A directory that the broker does not have gets"""
    log = await new_log(server)
    topic = AlterReplicaLogDirTopic(name=log.topic, partitions=(0,))
    directory = AlterReplicaLogDir(path="/kwire-conform", topics=[topic])
    return await log.leader.ask(AlterReplicaLogDirsRequest(dirs=[directory]))


@SECTION.refuses(
    6, kip(1142, "Public Interfaces"), ErrorCode.UNSUPPORTED_VERSION, role=ServerRole.BROKER
)
async def _(server: Server) -> Any:
    """A type of resource that has no list gets"""
    (await server.connection()).demand_since(ListConfigResourcesRequest, 1)
    return await server.ask(ListConfigResourcesRequest(resource_types=(_NO_TYPE,)))


@SECTION.broker_check(7, kip(1142, "Public Interfaces"))
async def _(server: Server) -> None:
    """Topics are listed among the resources with configuration."""
    (await server.connection()).demand_since(ListConfigResourcesRequest, 1)
    name = await server.topic()
    answer = await server.ask(ListConfigResourcesRequest(resource_types=(2,)))
    expect_error(answer, ErrorCode.NONE)
    names = [resource.resource_name for resource in answer.config_resources]
    expect(name in names, f"{name} among the resources", names)
