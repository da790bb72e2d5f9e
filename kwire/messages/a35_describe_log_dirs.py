"""DescribeLogDirs, API key 35."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, int16, int32, int64, nullable, since, string


class DescribableLogDirTopic(Group):
    topic: str = string
    partitions: tuple[int, ...] = array(int32)


class DescribeLogDirsRequest(Request, key=35, versions="0-5", flexible="2+", listeners="broker"):
    """An admin asks a broker what its log directories hold (KIP-113)."""

    topics: list[DescribableLogDirTopic] | None = nullable(array(DescribableLogDirTopic))


class DescribeLogDirsPartition(Group):
    partition_index: int = int32
    partition_size: int = int64
    offset_lag: int = int64
    is_future_key: bool = boolean


class DescribeLogDirsTopic(Group):
    name: str = string
    partitions: list[DescribeLogDirsPartition] = array(DescribeLogDirsPartition)


class DescribeLogDirsResult(Group):
    error_code: int = int16
    log_dir: str = string
    topics: list[DescribeLogDirsTopic] = array(DescribeLogDirsTopic)
    total_bytes: int = since(4, int64, default=-1, ignorable=True)
    usable_bytes: int = since(4, int64, default=-1, ignorable=True)
    is_cordoned: bool = since(5, boolean, ignorable=True)


class DescribeLogDirsResponse(Response, key=35, versions="0-5", flexible="2+"):
    """The broker gives the replicas, their sizes and the free space per directory (KIP-113)."""

    throttle_time_ms: int = int32
    error_code: int = since(3, int16, ignorable=True)
    results: list[DescribeLogDirsResult] = array(DescribeLogDirsResult)
