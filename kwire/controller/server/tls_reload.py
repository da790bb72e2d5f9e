"""New certificates of running listeners, without a restart (KIP-226; Java: DynamicBrokerConfig)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rpds import HashTrieMap

from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.config.tls import STORE_LOCATIONS, TlsConfig, tls_config
from kwire.controller.server.listener import ControllerListener
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.errors import KwireError
from kwire.image.configs import EMPTY
from kwire.messages.config_resource import ResourceType

log = logging.getLogger(__name__)

FILE_CHECK = 5.0
"""Seconds after which the files of the stores are looked at again."""


class TlsReloader:
    """Gives listeners new stores when their settings, or the files that these name, change.

    reloaded: is called with the listener and its new stores.
    """

    def __init__(
        self,
        config: NodeConfig,
        metadata: MetadataRuntime,
        listeners: Iterable[ControllerListener],
        reloaded: Callable[[ControllerListener, TlsConfig], None],
    ) -> None:
        self._config = config
        self._metadata = metadata
        self._listeners = [listener for listener in listeners if listener.config.tls]
        self._reloaded = reloaded
        self._read = EMPTY
        self._stamps = self._file_stamps()

    async def run(self) -> None:
        """Watch for ever; to be cancelled."""
        while self._listeners:
            try:
                # Setting a key to the value that it has makes new settings, too: Kafka's way to
                # have a file read again.
                async with asyncio.timeout(FILE_CHECK):
                    await self._metadata.until(lambda: self._settings() is not self._read)
            except TimeoutError:
                stamps = await asyncio.to_thread(self._file_stamps)
                if stamps == self._stamps:
                    continue
            await self._reload()

    async def _reload(self) -> None:
        """Give each listener its stores as they are now.

        1. A listener's own settings of this node in the metadata override those of its file;
           general ones, or those of all nodes, are ignored, as in Kafka.
        2. Stores that did not change stay.
        3. Stores that cannot be used, or are for another name, leave the old ones in use, and are
           told once.
        """
        self._read, self._stamps = self._settings(), self._file_stamps()
        for listener in self._listeners:
            config = listener.config
            try:
                # 1.
                new = tls_config(self._pairs(), config.name, with_sasl=config.sasl is not None)
                # 2.
                if new == listener.tls:
                    continue
                await listener.use_tls(new)
            except (KwireError, OSError) as error:
                # 3.
                log.warning("listener %s keeps its certificate: %s", config.name, error)
            else:
                log.info("listener %s has a new certificate or new authorities", config.name)
                self._reloaded(listener, new)

    def _settings(self) -> HashTrieMap[str, str]:
        return self._metadata.image.configs.of(ResourceType.BROKER, str(self._config.node_id))

    def _pairs(self) -> Mapping[str, str]:
        dynamic = {
            name: value
            for name, value in self._settings().items()
            if name.startswith("listener.name.")
        }
        return {**self._config.static, **dynamic}

    def _file_stamps(self) -> list[tuple[int, int, int] | None]:
        """Return what changes with each file of a store: time, size and the file itself."""
        suffixes = tuple(STORE_LOCATIONS)
        files = sorted({value for name, value in self._pairs().items() if name.endswith(suffixes)})
        return [_stamp(Path(file)) for file in files]


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except (OSError, ValueError):  # the latter for a name with a null byte
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
