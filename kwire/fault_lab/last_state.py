"""The last state of every key, read from the committed log after the faults, as a strict read."""

from __future__ import annotations

from kwire.fault_lab.history import Fate, RecordedOperation
from kwire.fault_lab.metadata_log import MetadataLogReader
from kwire.fault_lab.session import WorkloadRun
from kwire.fault_lab.workload.configs import CLIENT_METRICS, KEYS, pair_of
from kwire.image import MetadataImage
from kwire.text.ids import uuid_text

ENOUGH = 20.0
"""Seconds for the reader to catch up with an offset that was committed."""


async def read_last_states(run: WorkloadRun, log: MetadataLogReader, offset: int) -> None:
    """Add a read of every key to the history. offset: behind everything that was acknowledged."""
    begin = run.clock()
    if not await log.reaches(offset, ENOUGH):
        raise TimeoutError
    for key in run.history.by_key():
        kind, _, name = key.partition(":")
        if kind not in ("topic", "config", "voter"):
            continue
        state = _state(log, kind, name)
        operation = RecordedOperation(
            key=key, kind="read", fate=Fate.OK, begin=begin, end=run.clock(), result=state
        )
        run.history.add(operation)


def _state(log: MetadataLogReader, kind: str, name: str) -> object:
    if kind == "voter":
        return log.is_voter(int(name))
    return _topic(log.image, name) if kind == "topic" else _config(log.image, name)


def _topic(image: MetadataImage, name: str) -> object:
    topic = image.topics.topic(name)
    return None if topic is None else [uuid_text(topic.id), len(topic.partitions)]


def _config(image: MetadataImage, name: str) -> object:
    keys = image.configs.of(CLIENT_METRICS, name)
    return pair_of(keys.get(KEYS[0]), keys.get(KEYS[1]))
