"""The end of a workload: a change that proves that the cluster works again, and the removal."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from kwire.errors import KwireError
from kwire.fault_lab.history import Fate
from kwire.fault_lab.metadata_log import MetadataLogReader
from kwire.fault_lab.session import WorkloadClient
from kwire.fault_lab.workload.configs import (
    CLIENT_METRICS,
    FIRST,
    KEYS,
    alter_pair,
    set_pair,
)
from kwire.fault_lab.workload.topics import delete
from kwire.fault_lab.workload.voters import directory_of, remove_voter
from kwire.image import MetadataImage
from kwire.messages.a44_incremental_alter_configs import AlterableConfig

PAUSE = 0.2
SEEN = 5.0
"""Seconds until an acknowledged change is in the log that is read; a lost one never is."""

NAMES_START = "kwire-conform-"
DELETE = 1


async def settled_offset(client: WorkloadClient, log: MetadataLogReader) -> int:
    """Change something until it is acknowledged and in the log; return the offset after it."""
    name = f"{client.run.prefix}-end"

    def has_value(image: MetadataImage) -> bool:
        return image.configs.of(CLIENT_METRICS, name).get(KEYS[0]) == str(value)

    while True:
        value = FIRST + client.run.unique()
        work = partial(set_pair, client, name, value)
        operation = await client.record(f"config:{name}", "set", work, value)
        if operation.fate is Fate.OK and await log.until(has_value, SEEN):
            return log.offset
        await asyncio.sleep(PAUSE)


async def remove_everything(client: WorkloadClient, image: MetadataImage) -> None:
    """Remove topics and resources of this run and of earlier ones that were killed."""
    for name in [name for name in image.topics.ids if name.startswith(NAMES_START)]:
        await _repeat(client, name)
    resources = [
        resource.name
        for resource in image.configs.resources
        if resource.type == CLIENT_METRICS and resource.name.startswith(NAMES_START)
    ]
    for name in resources:
        await _repeat(client, name, is_topic=False)


async def remove_spare_voter(client: WorkloadClient, spare: int) -> None:
    """Take the spare controller out of the voters; ask again, elsewhere, until it is out."""
    while True:
        with suppress(KwireError, LookupError):
            directory = await directory_of(client, spare)
            fate, _ = await remove_voter(client, spare, directory)
            if fate in (Fate.OK, Fate.REFUSED):
                return
        client.move()
        await asyncio.sleep(PAUSE)


async def _repeat(client: WorkloadClient, name: str, *, is_topic: bool = True) -> None:
    """Remove one thing; ask again, elsewhere, until it is gone."""
    while True:
        with suppress(KwireError):
            remove = delete(client, name) if is_topic else _clear(client, name)
            fate, _ = await remove
            if fate in (Fate.OK, Fate.REFUSED):
                return
        client.move()
        await asyncio.sleep(PAUSE)


async def _clear(client: WorkloadClient, name: str) -> tuple[Fate, object]:
    configs = [AlterableConfig(name=key, config_operation=DELETE, value=None) for key in KEYS]
    result = await alter_pair(client, name, configs)
    return (Fate.OK if result.error_code == 0 else Fate.NOT_DONE), None
