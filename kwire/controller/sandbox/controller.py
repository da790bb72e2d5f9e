"""A controller that leads a copy of a cluster, as a service."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.handlers.registry import HANDLERS
from kwire.controller.raft import Raft, ReplicaKey
from kwire.controller.rules import Rules
from kwire.controller.sandbox.cluster_copy import ClusterCopy
from kwire.controller.sandbox.shadows import FETCH_VERSION, ShadowChannels, acknowledgement
from kwire.controller.server.controller_apis import ControllerApis
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.environment import Environment
from kwire.controller.server.foreign_clusters import ForeignClusters
from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.errors import ConnectionFailed
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.registry import api_keys
from kwire.messages.registry import request as api_request
from kwire.net.address import Address
from kwire.net.service import RequestContext

API_KEYS = api_keys(
    "DescribeQuorum",
    "AlterPartition",
    "UpdateFeatures",
    "BrokerRegistration",
    "BrokerHeartbeat",
    "UnregisterBroker",
    "ControllerRegistration",
    "AddRaftVoter",
    "RemoveRaftVoter",
    "UpdateRaftVoter",
)
APIS: Mapping[int, Versions] = {
    key: HANDLERS[key].versions if key in HANDLERS else api_request(key).versions
    for key in sorted(API_KEYS)
}
"""DescribeQuorum, AlterPartition, UpdateFeatures, the registrations of brokers and controllers with
their heartbeats and unregistration, and the changes of the voter set."""

READY = 30.0
"""Seconds within which it must be elected."""

TURN = 0.01
"""Seconds between two acknowledgements while a request waits for its answer."""


class SandboxController:
    """Leads in place of the copied cluster's leader; its files are removed at the end.

    may_reach: returns False for the address of a voter that is not to be asked for ApiVersions.
    """

    def __init__(
        self,
        cluster: ClusterCopy,
        may_reach: Callable[[Address], bool] = lambda address: True,
        rules: Rules | None = None,
    ) -> None:
        self._rules = rules or Rules()
        self._cluster = cluster
        self._may_reach = may_reach
        self._folder = tempfile.TemporaryDirectory(prefix="kwire-simulated-")

    async def __aenter__(self) -> Self:
        folder = Path(self._folder.name, "data")
        cluster, config = self._cluster, self._cluster.config(folder)
        cluster.write(folder)
        self._log = DirectoryLog(config.storage)
        raft_config = config.raft_config(cluster.cluster_id, self._log.directory_id)
        environment = Environment()
        below = environment.random.randrange
        self._raft = Raft(raft_config, self._log, self._log.election, below=below)
        self._channels = ShadowChannels(
            self._may_reach,
            client_id="kwire-simulated",
            request_timeout_ms=raft_config.request_timeout_ms,
        )
        self._runtime = RaftRuntime(self._raft, self._log, self._channels, environment)
        self._metadata = MetadataRuntime(config, self._log, self._runtime, environment, self._rules)
        self._apis = ControllerApis(
            self._runtime,
            self._metadata,
            ForeignClusters(node_id=raft_config.node_id, cluster_id=self._log.cluster_id),
        )
        try:
            self._runtime.start(self._metadata)
            await self._lead()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stop()

    @property
    def apis(self) -> Mapping[int, Versions]:
        """The APIs of a controller that it answers."""
        return APIS

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Return the answer of a controller whose voters acknowledge every write at once.

        A new voter counts as caught up. Its ApiVersions is really requested, so that AddRaftVoter
        fails for a voter that does not run or does not support the kraft.version.
        """
        await self._acknowledge()
        if isinstance(request, AddRaftVoterRequest):
            # A new voter must be an observer that has caught up (KIP-853): its fetch says so.
            await self._fetch(ReplicaKey.from_wire(request.voter_id, request.voter_directory_id))
        # The proxy's listener has another name; raft knows the endpoints of its own only.
        own = replace(context, listener=self._raft.config.listener)
        answering = asyncio.ensure_future(self._apis.answer(request, own))
        try:
            while not answering.done():
                await asyncio.wait([answering], timeout=TURN)
                await self._acknowledge()
        finally:
            answering.cancel()
        return answering.result()

    async def _lead(self) -> None:
        try:
            async with asyncio.timeout(READY):
                while not self._metadata.is_active:
                    await self._acknowledge()
                    await asyncio.sleep(TURN)
        except TimeoutError:
            raise ConnectionFailed("the simulated controller was not elected in time") from None

    async def _acknowledge(self) -> None:
        """Fetch for every other voter from the log's end, which commits all of the log."""
        for replica in self._raft.voters.keys:
            if replica.id != self._raft.config.node_id:
                await self._fetch(replica)

    async def _fetch(self, replica: ReplicaKey) -> None:
        listener = self._raft.config.listener
        await self._runtime.ask(acknowledgement(self._raft, replica), FETCH_VERSION, listener)

    async def _stop(self) -> None:
        self._runtime.stop()
        await self._metadata.stop()
        await self._channels.close()
        self._log.close()
        self._folder.cleanup()
