"""New limits of connections on a running node, without a restart (KIP-226; Java: SocketServer)."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Mapping
from dataclasses import replace

from kwire.controller.quotas.connection_quotas import ConnectionLimits, ConnectionQuotas
from kwire.controller.server.config.connection_limits import connection_limits
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.errors import InvalidValue
from kwire.image.configs import EMPTY
from kwire.messages.config_resource import ResourceType
from kwire.net.address import why_not_bound

log = logging.getLogger(__name__)

Settings = Mapping[str, str]


class LimitsReloader:
    """Gives the quotas of a node other limits when its settings in the metadata change."""

    def __init__(
        self, config: NodeConfig, metadata: MetadataRuntime, quotas: ConnectionQuotas
    ) -> None:
        self._config = config
        self._metadata = metadata
        self._quotas = quotas

    async def run(self) -> None:
        """Watch for ever; to be cancelled.

        1. The settings of this node override those of all nodes, these override its file.
        2. A value that Kafka does not take leaves the limits as they are, and is told once.
        """
        read: tuple[Settings, Settings] = EMPTY, EMPTY
        unread = connection_limits_of(self._config, *read)
        while True:
            # `until` calls this within its own await, when `read` is the last that was read.
            await self._metadata.until(lambda: self._settings() != read)  # noqa: B023
            read = self._settings()
            try:
                # 1.
                limits = connection_limits_of(self._config, *read)
                if limits != unread:
                    unread = limits
                    self._quotas.set_limits(await resolved(limits))
                    log.info("the limits of connections are altered: %s", limits)
            except InvalidValue as error:
                # 2.
                log.warning("the limits of connections stay as they are: %s", error)

    def _settings(self) -> tuple[Settings, Settings]:
        configs = self._metadata.image.configs
        of_all = configs.of(ResourceType.BROKER, "")
        return of_all, configs.of(ResourceType.BROKER, str(self._config.node_id))


def connection_limits_of(config: NodeConfig, *settings: Settings) -> ConnectionLimits:
    """Return the limits by the settings, each of which overrides those before it and the file."""
    pairs = dict(config.static)
    for overriding in settings:
        pairs.update(overriding)
    names = (listener.name for listener in config.listeners)
    return connection_limits(pairs, names, config.inter_broker_listener)


async def resolved(limits: ConnectionLimits) -> ConnectionLimits:
    """Return limits whose hosts are addresses as sockets have them. InvalidValue for others."""
    by_address = {await _address(host): count for host, count in limits.by_address.items()}
    return replace(limits, by_address=by_address)


async def _address(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        reason = why_not_bound(error)
        text = f"max.connections.per.ip.overrides: {host!r} is not known: {reason}"
        raise InvalidValue(text) from None
    return str(found[0][4][0])
