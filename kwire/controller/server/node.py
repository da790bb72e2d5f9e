"""One running controller: its directory, its replica, its metadata, its listeners."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from socket import socket
from typing import Protocol, Self

from kwire.controller.quotas.connection_quotas import ConnectionQuotas
from kwire.controller.raft import Raft
from kwire.controller.server.channels import Channels
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.config.tls import TlsConfig
from kwire.controller.server.controller_apis import ControllerApis
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.environment import Environment
from kwire.controller.server.extension import Companion, Extension, NodeParts
from kwire.controller.server.foreign_clusters import ForeignClusters
from kwire.controller.server.limits_reload import LimitsReloader, connection_limits_of, resolved
from kwire.controller.server.listener import CheckAccess, ControllerListener
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.controller.server.registration import Registrar
from kwire.controller.server.request_memory import RequestMemory
from kwire.controller.server.request_metrics import MeteredService, RequestMetrics
from kwire.controller.server.sasl_mechanisms import listener_mechanisms
from kwire.controller.server.suspension import SuspendableService
from kwire.controller.server.tls_reload import TlsReloader
from kwire.errors import InvalidValue
from kwire.net.service import Service
from kwire.text.ids import uuid_text

log = logging.getLogger(__name__)

HAND_OVER = 5.0
"""Seconds for which a leader that stops waits for its successor: Kafka's own time-out."""

HELPER_PAUSE = 10.0
"""Seconds until a helper that failed begins anew."""


class ControllerNode:
    """A controller; `async with` starts and stops it.

    sockets: bound sockets by listener name, if the ports had to be known beforehand.
    metered: True to count requests in `requests`.
    environment: random source, time of day and disk; by default the machine's.
    extension: what it has besides KRaft; companion: what runs beside it by that.
    quotas, memory: the limits that all listeners share.
    """

    def __init__(
        self,
        config: NodeConfig,
        sockets: Mapping[str, socket] | None = None,
        *,
        metered: bool = False,
        environment: Environment | None = None,
        extension: Extension | None = None,
    ) -> None:
        self.config = config
        self.requests = RequestMetrics() if metered else None
        self.quotas = ConnectionQuotas()
        self.memory = RequestMemory(config.queued_bytes)
        self._extension = extension or Extension()
        self._environment = environment or Environment()
        self._sockets = dict(sockets or {})
        self._listeners: list[ControllerListener] = []
        self._running = False
        self.companion = Companion()

    async def start(self) -> None:
        """Open the directory, listen, and take part in the quorum.

        Raises InvalidValue if the directory is not formatted, FileError if it is damaged,
        CannotLead if its metadata have features that kwire cannot lead, OSError if a port is taken.
        The sockets passed to the node are closed then.
        """
        try:
            await self._start()
        except BaseException:
            for unused in self._sockets.values():
                unused.close()
            raise

    async def _start(self) -> None:
        config = self.config
        # Controllers reach each other at the first listener: both sides use its stores and logins.
        first = config.listeners[0]
        context = first.tls.client_context() if first.tls else None
        login = first.sasl.login if first.sasl else None
        self.log, self.raft = await self._opened()
        timeout = self.raft.config.request_timeout_ms
        foreign = ForeignClusters(node_id=config.node_id, cluster_id=self.log.cluster_id)
        self.channels = Channels(
            client_id=f"raft-client-{config.node_id}",  # as Java's KafkaRaftManager
            request_timeout_ms=timeout,
            tls=context,
            sasl=login,
            foreign=foreign,
        )
        # A registration waits for a commit, which fetches make. A controller answers one request of
        # a connection at a time: on a shared connection both would wait for each other.
        self._registration = Channels(
            client_id=str(config.node_id), request_timeout_ms=timeout, tls=context, sasl=login
        )
        self.runtime = RaftRuntime(self.raft, self.log, self.channels, self._environment)
        self.metadata = MetadataRuntime(
            config, self.log, self.runtime, self._environment, self._extension.rules
        )
        self._running = True
        try:
            self.companion = self._extension.companion(self._parts())
            names = {listener.name for listener in config.listeners}
            late_listeners = names - config.early_start_listeners
            apis = ControllerApis(
                self.runtime, self.metadata, foreign, late_listeners=late_listeners
            )
            metered = MeteredService(apis, self.requests) if self.requests else apis
            self._service = SuspendableService(metered)
            await self._listen(self._service, apis.check_access)
            self.runtime.start(self.metadata)
        except BaseException:
            await self.kill()
            raise
        self._spawn_helpers()
        log.info("controller %d of cluster %s runs", config.node_id, self.log.cluster_id)

    def _parts(self) -> NodeParts:
        return NodeParts(
            config=self.config,
            log=self.log,
            runtime=self.runtime,
            metadata=self.metadata,
            environment=self._environment,
        )

    def _spawn_helpers(self) -> None:
        """Begin to register the node, to look for new stores and limits, and what runs beside."""
        config = self.config
        self.companion.start()
        registrar = Registrar(
            config, self.raft, self.metadata, self._registration, self._environment
        )
        reloader = TlsReloader(config, self.metadata, self._listeners, self._use_stores)
        limits = LimitsReloader(config, self.metadata, self.quotas)
        for helper in (registrar, reloader, limits):
            self._registration.spawn(_kept_running(helper))

    async def _opened(self) -> tuple[DirectoryLog, Raft]:
        """Open and read the log in a thread: it may be long, and other nodes may share the loop."""
        opening = asyncio.create_task(asyncio.to_thread(self._open))
        # A thread cannot be cancelled: it is waited for, and the directory it opened is closed.
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            await asyncio.wait([opening])
            if not opening.cancelled() and opening.exception() is None:
                opening.result()[0].close()
            raise

    def _open(self) -> tuple[DirectoryLog, Raft]:
        config = self.config
        log = DirectoryLog(
            config.storage, segment_bytes=config.segment_bytes, environment=self._environment
        )
        try:
            raft_config = config.raft_config(log.cluster_id, log.directory_id)
            below = self._environment.random.randrange
            raft = Raft(raft_config, log, log.election, below=below)
            check_voter(config, raft)
            return log, raft
        except BaseException:
            log.close()
            raise

    async def _listen(self, apis: Service, check_access: CheckAccess) -> None:
        config = self.config
        self.quotas.set_limits(await resolved(connection_limits_of(config)))
        for listener_config in config.listeners:
            sasl = listener_config.sasl
            image = self.metadata.image_of_credentials
            token_bytes = self._environment.token_bytes
            listener = ControllerListener(
                listener_config,
                apis,
                idle=config.idle_ms / 1000,
                frame_limit=config.frame_limit,
                mechanisms=listener_mechanisms(sasl, image, token_bytes) if sasl else None,
                environment=self._environment,
                quotas=self.quotas,
                memory=self.memory,
                check_access=check_access,
            )
            await listener.start(self._sockets.pop(listener_config.name, None))
            self._listeners.append(listener)

    def _use_stores(self, listener: ControllerListener, tls: TlsConfig) -> None:
        """Take a listener's new stores for requests to other controllers, too."""
        if listener is self._listeners[0]:
            for channels in (self.channels, self._registration):
                channels.use_tls(tls.client_context())

    @property
    def node_id(self) -> int:
        """node.id."""
        return self.config.node_id

    @property
    def running(self) -> bool:
        """True between start and stop."""
        return self._running

    async def failed(self) -> None:
        """Wait until the node cannot go on; raise why, as StorageFailed or CommittedDataLost."""
        await asyncio.shield(self.runtime.failure)

    def suspend(self) -> None:
        """Stand still until `resume`: answer nothing, decide nothing; connections stay open."""
        self._service.suspend()
        self.runtime.suspend()
        self.companion.suspend()

    def resume(self) -> None:
        """Go on after `suspend`; do nothing if the node does not stand still."""
        self.runtime.resume()
        self._service.resume()
        self.companion.resume()

    async def stop(self) -> None:
        """Stop in order: a leader hands over first, as a Kafka controller does on SIGTERM."""
        if not self._running:
            return
        self.resume()
        if not await self.runtime.shut_down(HAND_OVER):
            log.warning("controller %d stops: no other took over its leadership", self.node_id)
        await self.kill()

    async def kill(self) -> None:
        """Stop at once. Acknowledged records are on the disk; no other node is told."""
        if not self._running:
            return
        self._running = False
        # First the replica: nothing is acknowledged any more while the rest is closed.
        self.runtime.stop()
        await self.companion.stop()
        await self.metadata.stop()
        await self.runtime.stopped()
        for listener in self._listeners:
            await listener.close()
        self._listeners.clear()
        await self._registration.close()
        await self.channels.close()
        self.log.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()


class _Helper(Protocol):
    async def run(self) -> None: ...


async def _kept_running(helper: _Helper) -> None:
    """Run a helper for ever; after an exception that it does not expect, anew and after a pause.

    A node without it would go on, and nobody would see that it does not heed its settings.
    """
    while True:
        try:
            return await helper.run()
        except Exception as error:
            text = f"{type(helper).__name__} failed, and begins anew in {HELPER_PAUSE:g} s"
            asyncio.get_running_loop().call_exception_handler({"message": text, "exception": error})
        await asyncio.sleep(HELPER_PAUSE)


def check_voter(config: NodeConfig, raft: Raft) -> None:
    """Tell if the voters have this node with another directory: its disk was replaced.

    Raises InvalidValue if nobody else votes: no other controller can have sent this log, nor can
    anybody make the new directory vote.
    """
    key = next((key for key in raft.voters.keys if key.id == config.node_id), None)
    if key is None or raft.is_voter:
        return
    own = uuid_text(raft.config.directory_id)
    folder = config.storage.metadata_log_dir
    differ = f"{folder}: directory.id is {own}, but the voters have node {key}"
    if len(raft.voters) == 1:
        raise InvalidValue(
            f"{differ} and nobody else: write the directory.id that they have to meta.properties"
        )
    log.warning(
        "%s: this controller does not vote; if its disk was replaced, remove that voter and add it"
        " anew, else write the directory.id that they have to meta.properties",
        differ,
    )
