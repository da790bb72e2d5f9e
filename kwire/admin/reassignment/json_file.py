"""Kafka's reassignment JSON, which kafka-reassign-partitions reads and writes.

{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from msgspec import DecodeError, Meta, Struct
from msgspec.json import decode, encode

from kwire.admin.topic_partition import TopicPartition
from kwire.errors import InvalidValue

VERSION = 1
ANY_LOG_DIR = "any"
"""The directory is the broker's choice."""

_Int32 = Annotated[int, Meta(ge=0, le=2**31 - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetReplicas:
    """The replicas that a partition is to have, the preferred leader first.

    log_dirs: a directory for each replica, `any` where the broker chooses.
    """

    partition: TopicPartition
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...]


class _Partition(Struct):
    topic: str
    partition: _Int32
    replicas: list[_Int32]
    log_dirs: list[str] | None = None


class _File(Struct):
    version: int = VERSION
    partitions: list[_Partition] | None = None


def reassignment_json(targets: Iterable[tuple[TopicPartition, Iterable[int]]]) -> str:
    """Return the text for these replicas, in the order given, as Kafka's tool writes it."""
    partitions = []
    for partition, brokers in targets:
        replicas = list(brokers)
        log_dirs = [ANY_LOG_DIR] * len(replicas)
        partitions.append(_Partition(partition.topic, partition.partition, replicas, log_dirs))
    return encode(_File(VERSION, partitions)).decode()


def read_reassignment(text: str | bytes, name: str) -> list[TargetReplicas]:
    """Read the file called `name`; refuse what Kafka's tool refuses to execute.

    A plan that found nothing to move is empty, which Kafka's tool refuses; here it moves nothing.

    Raises InvalidValue if it is no such JSON, has no partitions, names a partition or a broker
    twice, or has another number of directories than of replicas.
    """
    try:
        file = decode(text, type=_File)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidValue(f"{name} is no reassignment file: {error}") from None
    if file.version != VERSION:
        raise InvalidValue(f"{name} has version {file.version}; only version {VERSION} is known")
    if file.partitions is None:
        raise InvalidValue(f"{name} names no partition")
    targets = [_target(row, name) for row in file.partitions]
    seen: set[TopicPartition] = set()
    for target in targets:
        if target.partition in seen:
            raise InvalidValue(f"{name} names {target.partition} twice")
        seen.add(target.partition)
    return targets


def _target(row: _Partition, name: str) -> TargetReplicas:
    partition = TopicPartition(row.topic, row.partition)
    if not row.replicas:
        raise InvalidValue(f"{name}: {partition} has no replicas")
    if len(set(row.replicas)) < len(row.replicas):
        raise InvalidValue(f"{name}: {partition} names a broker twice: {row.replicas}")
    log_dirs = row.log_dirs or [ANY_LOG_DIR] * len(row.replicas)
    if row.log_dirs is not None and len(row.log_dirs) != len(row.replicas):
        raise InvalidValue(
            f"{name}: {partition} has {len(row.replicas)} replicas and {len(row.log_dirs)} log_dirs"
        )
    return TargetReplicas(
        partition=partition, replicas=tuple(row.replicas), log_dirs=tuple(log_dirs)
    )
