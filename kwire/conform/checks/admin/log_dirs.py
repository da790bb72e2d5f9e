"""Log directories (KIP-113, KIP-827; Java: ReplicaManager) and resources with configuration."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario, scenario
from kwire.conform.checks.records.log import CheckedLog, new_log
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.needs import ServerRole
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.messages.a34_alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kwire.messages.a35_describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from kwire.messages.a74_list_config_resources import ListConfigResourcesRequest

_DIRECTORIES = kip(113, "Public Interfaces")
_NO_TYPE = 99


async def _describe(log: CheckedLog, *topics: str) -> Any:
    wanted = [DescribableLogDirTopic(topic=topic, partitions=(0,)) for topic in topics]
    answer = await log.leader.ask(DescribeLogDirsRequest(topics=wanted))
    expect_error(answer, 0)
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


@scenario(
    "Null stands for all topics, and every directory is named.",
    _DIRECTORIES,
    role=ServerRole.BROKER,
)
async def _all(server: Server) -> None:
    answer = await server.ask(DescribeLogDirsRequest(topics=None))
    expect_error(answer, 0)
    names = [directory.log_dir for directory in answer.results]
    expect(names and all(names), "directories", names)


@broker_scenario("A partition with records lies in one directory, and has a size.", _DIRECTORIES)
async def _one_directory(server: Server) -> None:
    log = await new_log(server)
    await log.append()
    sizes = _sizes(await _describe(log, log.topic), log.topic)
    expect(len(sizes) == 1 and sizes[0] > 0, "one size of more than 0 bytes", sizes)


@broker_scenario("A topic that does not exist is left out, without an error.", _DIRECTORIES)
async def _unknown(server: Server) -> None:
    log = CheckedLog(leader=await server.connection(), topic=server.name())
    answer = await _describe(log, log.topic)
    expect_equal("replicas", _sizes(answer, log.topic), [])


@scenario(
    "From v4 on the answer has the total and the free bytes of a directory.",
    kip(827, "Public Interfaces"),
    role=ServerRole.BROKER,
)
async def _bytes(server: Server) -> None:
    (await server.connection()).demand_since(DescribeLogDirsRequest, 4)
    answer = await server.ask(DescribeLogDirsRequest(topics=[]))
    came = [(directory.total_bytes, directory.usable_bytes) for directory in answer.results]
    expect(all(0 < free <= total for total, free in came), "free of so many bytes", came)


@broker_scenario("A directory that the broker does not have gets LOG_DIR_NOT_FOUND.", _DIRECTORIES)
async def _no_directory(server: Server) -> None:
    log = await new_log(server)
    topic = AlterReplicaLogDirTopic(name=log.topic, partitions=(0,))
    directory = AlterReplicaLogDir(path="/kwire-conform", topics=[topic])
    expect_error(await log.leader.ask(AlterReplicaLogDirsRequest(dirs=[directory])), 57)


@scenario(
    "A type of resource that has no list gets UNSUPPORTED_VERSION.",
    kip(1142, "Public Interfaces"),
    role=ServerRole.BROKER,
)
async def _no_type(server: Server) -> None:
    (await server.connection()).demand_since(ListConfigResourcesRequest, 1)
    expect_error(await server.ask(ListConfigResourcesRequest(resource_types=(_NO_TYPE,))), 35)


@broker_scenario("Topics are listed among the resources with configuration.", kip(1142))
async def _topics_listed(server: Server) -> None:
    (await server.connection()).demand_since(ListConfigResourcesRequest, 1)
    name = await server.topic()
    answer = await server.ask(ListConfigResourcesRequest(resource_types=(2,)))
    expect_error(answer, 0)
    names = [resource.resource_name for resource in answer.config_resources]
    expect(name in names, f"{name} among the resources", names)


SECTION = CheckSection(
    "admin/log-dirs",
    "Log directories and resources with configuration",
    {
        1: _all,
        2: _one_directory,
        3: _unknown,
        4: _bytes,
        5: _no_directory,
        6: _no_type,
        7: _topics_listed,
    },
)
