"""The registration of a controller: its endpoints and features, in the metadata (KIP-919)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from uuid import UUID

from kwire.controller.raft import Raft
from kwire.controller.server.channels import Channels
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.environment import Environment
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.error_codes import name
from kwire.errors import KwireError
from kwire.image.endpoint import feature_groups
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.net.negotiation import VersionRange
from kwire.net.security import PROTOCOLS

log = logging.getLogger(__name__)

SECURITY_PROTOCOLS = {name: number for number, name in enumerate(PROTOCOLS)}
"""The numbers of Java's SecurityProtocol."""

FIRST_RETRY, LAST_RETRY = 0.1, 10.0
"""Seconds between tries, doubling (Java: ControllerRegistrationManager)."""


def registration(
    config: NodeConfig,
    incarnation: UUID,
    features: Mapping[str, VersionRange],
    *,
    zk_migration_ready: bool = False,
) -> ControllerRegistrationRequest:
    """Return the request of a controller. incarnation: a new id for each start of the node."""
    return ControllerRegistrationRequest(
        controller_id=config.node_id,
        incarnation_id=incarnation,
        zk_migration_ready=zk_migration_ready,
        listeners=[
            Listener(
                name=listener.name,
                host=listener.advertised_host,
                port=listener.advertised_port,
                security_protocol=SECURITY_PROTOCOLS[listener.security_protocol],
            )
            for listener in config.listeners
        ],
        features=feature_groups(Feature, sorted(features.items())),
    )


class Registrar:
    """Registers one controller, and again whenever the metadata lacks its incarnation.

    Java: ControllerRegistrationManager.
    """

    def __init__(
        self,
        config: NodeConfig,
        raft: Raft,
        metadata: MetadataRuntime,
        channels: Channels,
        environment: Environment,
    ) -> None:
        self._config = config
        self._raft = raft
        self._metadata = metadata
        self._channels = channels
        self._incarnation = environment.new_uuid()
        self._is_registered = False

    async def run(self) -> None:
        """Register until cancelled.

        1. Wait for a leader, a metadata.version that has RegisterControllerRecord, and an image
           without this incarnation.
        2. Ask the leader; after a refusal, or no answer, pause and begin again.
        3. Wait until the record is committed here.
        4. If another process takes the registration over, its node.id is this one's: say so, and
           pause for longer each time, or both would fill the log with their registrations.
        """
        pause = disputed = FIRST_RETRY
        while True:
            # 1.
            await self._metadata.until(lambda: self._is_due)
            # 4.
            if self._is_displaced:
                self._warn_of_other(disputed)
                await asyncio.sleep(disputed)
                disputed = min(2 * disputed, LAST_RETRY)
            # 2.
            if await self._ask():
                pause = FIRST_RETRY
            # 3. The pause also bounds the wait for the commit: the leader may have lost its office.
            try:
                async with asyncio.timeout(pause):
                    await self._metadata.until(lambda: not self._is_due)
                self._is_registered = True
            except TimeoutError:
                pause = min(2 * pause, LAST_RETRY)

    @property
    def _is_displaced(self) -> bool:
        """True if the metadata had this incarnation, and have another one now."""
        controllers = self._metadata.image.cluster.controllers
        return self._is_registered and self._config.node_id in controllers

    def _warn_of_other(self, pause: float) -> None:
        if pause == FIRST_RETRY:
            log.warning(
                "another controller has registered with the node.id %d of this one: stop one of the"
                " two, or give it another node.id",
                self._config.node_id,
            )

    @property
    def _is_due(self) -> bool:
        image = self._metadata.image
        if not image.features.has_metadata_version:
            return False
        if not image.features.metadata_version.supports_controller_registration:
            return False
        known = image.cluster.controllers.get(self._config.node_id)
        has_leader = self._raft.leader_id is not None and len(self._raft.leader_endpoints) > 0
        return has_leader and (known is None or known.incarnation_id != self._incarnation)

    async def _ask(self) -> bool:
        request = registration(
            self._config,
            self._incarnation,
            self._metadata.supported_features,
            zk_migration_ready=self._metadata.rules.is_ready,
        )
        leader = self._raft.leader_endpoints.address(self._config.listeners[0].name)
        if leader is None:
            return False
        try:
            response = await self._channels.ask(leader.host, leader.port, request)
        except KwireError as error:
            log.debug("controller %d is not registered: %s", self._config.node_id, error)
            return False
        assert isinstance(response, ControllerRegistrationResponse)
        if response.error_code:
            code = name(response.error_code)
            log.info("controller %d is not registered: %s", self._config.node_id, code)
        return not response.error_code
