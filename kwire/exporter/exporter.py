"""The exporter as it runs: two watches and a server of their metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kwire.admin import AdminClient
from kwire.admin.bootstrap import Bootstrap
from kwire.exporter.cluster_watch import ClusterWatch
from kwire.exporter.collector import ExporterCollector
from kwire.exporter.quorum_watch import QuorumWatch
from kwire.net.address import Address
from kwire.net.metrics_server import MetricsServer, Page
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security
from kwire.net.tasks import cancel_and_wait
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts
from kwire.observer import LiveImage

CLIENT_ID = "kwire-exporter"

TOPIC_LIMIT = 10_000
"""Topics that have series of their own where these are asked for; the first by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterConfig:
    """The settings of an exporter; one of the two bootstraps is given.

    interval: seconds from one poll to the next. timeouts: of a poll, and of the metadata log.
    static_min_isr: min.insync.replicas of the brokers'
    server.properties. per_topic: also serve series for each topic.
    """

    listen: Address
    bootstrap_servers: str | None = None
    bootstrap_controllers: str | None = None
    security: Security = PLAINTEXT
    interval: float = 5.0
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    static_min_isr: int = 1
    per_topic: bool = False


class Exporter:
    """Serves /metrics, /healthz and /readyz inside `run`. Raises InvalidValue for addresses."""

    def __init__(self, config: ExporterConfig) -> None:
        bootstrap = Bootstrap.of(config.bootstrap_servers, config.bootstrap_controllers)
        self._client = AdminClient(
            config.bootstrap_servers,
            config.bootstrap_controllers,
            client_id=CLIENT_ID,
            security=config.security,
            timeout=config.timeouts.operation,
            request_timeout=config.timeouts.request,
            connect_timeout=config.timeouts.connect,
        )
        self.quorum = QuorumWatch(self._client, config.interval)
        self.cluster: ClusterWatch | None = None
        if config.bootstrap_controllers:
            live = LiveImage(
                bootstrap.addresses,
                open=SecureConnect(config.security, CLIENT_ID, timeouts=config.timeouts),
                patience=config.timeouts.request_seconds,
            )
            self.cluster = ClusterWatch(
                live,
                static_min_isr=config.static_min_isr,
                topic_limit=TOPIC_LIMIT if config.per_topic else 0,
            )
        collector = ExporterCollector(self.quorum, self.cluster)
        self.server = MetricsServer(
            collector, config.listen.host, config.listen.port, self._pages()
        )

    async def run(self, ended: asyncio.Event) -> None:
        """Serve until the event is set. Raises LocalError if the port is taken."""
        async with self.server, self._client:
            tasks = {asyncio.create_task(self.quorum.run())}
            if self.cluster is not None:
                tasks.add(asyncio.create_task(self.cluster.run()))
            waiting = asyncio.create_task(ended.wait())
            try:
                await asyncio.wait({*tasks, waiting}, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    if task.done():  # a watch ends by a fault only
                        task.result()
            finally:
                await cancel_and_wait([*tasks, waiting])

    def _pages(self) -> Mapping[str, Page]:
        return MappingProxyType({"/healthz": lambda: (True, "alive"), "/readyz": self._ready})

    def _ready(self) -> tuple[bool, str]:
        """Tell whether a leader answers; else why not."""
        quorum = self.quorum.quorum
        if quorum is None:
            return False, self.quorum.failure or "the last answer is too old"
        return True, f"node {quorum.leader_id} leads in epoch {quorum.leader_epoch}"
