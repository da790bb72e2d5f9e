"""The migration's driver of a running node: gives it events, carries out its effects in order."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from prometheus_client.core import Metric

from kwire.controller.server.metadata.metadata_runtime import MetadataRuntime
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.errors import KwireError
from kwire.image import MetadataImage
from kwire.image.changes import MetadataChanges
from kwire.migration.driver.driver import MigrationDriver
from kwire.migration.driver.driver_core import DualWrites
from kwire.migration.driver.driver_states import INACTIVE, UNINITIALIZED, MigrationDriverState
from kwire.migration.driver.effects import (
    DriverEffect,
    EndProcess,
    ForgetBrokers,
    LogLine,
    MeasureDualWrite,
    Perform,
    SendFullMetadata,
    SendMetadataChanges,
)
from kwire.migration.driver.events import (
    DriverEvent,
    NotPerformed,
    Performed,
    PollDriver,
    StartDriver,
)
from kwire.migration.node.companion import MigrationCompanion
from kwire.migration.node.metadata_feed import MetadataFeed
from kwire.migration.node.requests import MigrationRequests
from kwire.migration.node.sensors import MigrationSensors
from kwire.migration.node.zookeeper_session import ZooKeeperSession
from kwire.net.tasks import cancel_and_wait

logger = logging.getLogger(__name__)


class BrokerTeller(Protocol):
    """Sends metadata to the brokers that run with ZooKeeper, in order to each, without waiting."""

    def send_full(self, image: MetadataImage, raft_epoch: int, zk_epoch: int) -> None:
        """Replace what all brokers know by a committed image."""

    def send_changes(self, changes: MetadataChanges, raft_epoch: int, zk_epoch: int) -> None:
        """Tell all brokers of a committed change."""

    def forget(self) -> None:
        """Give up what is not sent yet: this node is not the controller any more."""

    async def close(self) -> None:
        """Give up everything, and close all connections."""


class MigrationRuntime(MigrationCompanion):
    """Runs the driver of one node, from `start` to `stop`.

    sensors: of its writes to ZooKeeper. abort: ends the node, for a reason.
    """

    def __init__(
        self,
        metadata: MetadataRuntime,
        runtime: RaftRuntime,
        feed: MetadataFeed,
        session: ZooKeeperSession,
        requests: MigrationRequests,
        brokers: BrokerTeller,
        sensors: MigrationSensors,
        *,
        abort: Callable[[str], None],
        dual_writes: DualWrites,
    ) -> None:
        self._node_id = metadata.controller.config.node_id
        self._driver = MigrationDriver(
            self._node_id, voters=lambda: runtime.raft.voters.ids, dual_writes=dual_writes
        )
        super().__init__(metadata)
        self._runtime = runtime
        self._feed = feed
        self._session = session
        self._requests = requests
        self._brokers = brokers
        self.sensors = sensors
        self._abort = abort
        self._events: deque[DriverEvent] = deque()
        self._performing: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stepping = False
        self._suspended = False
        self._stopped = False

    @property
    def state(self) -> MigrationDriverState:
        """The driver's state."""
        return self._driver.state

    @property
    def has_room(self) -> bool:
        """True if the driver takes another image; else changes wait, to be written together."""
        return self._driver.has_room

    def start(self) -> None:
        """Start the driver, and follow the node's metadata."""
        self._watching = asyncio.get_running_loop().create_task(self._watch())
        self._take(StartDriver())

    def suspend(self) -> None:
        """Keep all events for `resume`: the node stands still."""
        self._suspended = True
        self._cancel_timer()

    def resume(self) -> None:
        """Go on with what came since `suspend`."""
        self._suspended = False
        self._carry_on()

    def gauges(self) -> dict[str, float]:
        """Return the state of the migration, and how far ZooKeeper is behind."""
        metadata = self._metadata
        lag = self.sensors.lag(metadata.offset - 1, is_active=metadata.is_active)
        return {**self._state_gauges(), "ZkWriteBehindLag": lag}

    def collect(self) -> Iterable[Metric]:
        """Return the times of the writes."""
        return self.sensors.collect()

    async def stop(self) -> None:
        """Give up what is under way, and close the session; return when no task is left."""
        self._stopped = True
        self._cancel_timer()
        tasks = [task for task in (self._watching, self._performing) if task is not None]
        await cancel_and_wait(tasks)
        await self._brokers.close()
        await self._session.close()

    async def _watch(self) -> None:
        """Tell the driver of leaders and of committed metadata, until the node fails."""
        try:
            while True:
                await self._metadata.until(self._is_news)
                leader = self._feed.leader()
                if leader is not None:
                    self._take(leader)
                if self.has_room:
                    writes = self.state not in (UNINITIALIZED, INACTIVE)
                    published = self._feed.metadata(with_changes=writes)
                    if published is not None:
                        self._take(published)
        except Exception as error:  # without news the driver would stand still unnoticed
            self._runtime.fail(error)

    def _is_news(self) -> bool:
        """Return True for another leader, and for what is committed once the driver has room."""
        feed = self._feed
        return feed.has_other_leader or (feed.is_longer and self.has_room)

    def _take(self, event: DriverEvent) -> None:
        self._events.append(event)
        self._carry_on()

    def _carry_on(self) -> None:
        """Have the driver handle events; those that come from an effect wait for its others."""
        # A replica that has failed decides nothing any more: what is committed is not known here.
        if self._stepping or self._suspended or self._stopped or self._runtime.failure.done():
            return
        self._stepping = True
        try:
            while self._events:
                for effect in self._driver.step(self._events.popleft(), self._runtime.now):
                    self._carry_out(effect)
        except Exception as error:
            self._runtime.fail(error)
        finally:
            self._stepping = False
        if self.has_room and self._feed.is_longer:
            self._metadata.wake()
        self._set_timer()

    def _carry_out(self, effect: DriverEffect) -> None:
        match effect:
            case Perform():
                work = self._perform(effect)
                self._performing = asyncio.get_running_loop().create_task(work)
            case SendFullMetadata(image=image, raft_epoch=epoch, zk_controller_epoch=zk_epoch):
                self._brokers.send_full(image, epoch, zk_epoch)
            case SendMetadataChanges(
                changes=changes, raft_epoch=epoch, zk_controller_epoch=zk_epoch
            ):
                self._brokers.send_changes(changes, epoch, zk_epoch)
            case ForgetBrokers():
                self._brokers.forget()
            case MeasureDualWrite():
                self._measure(effect)
            case LogLine(level=level, text=text):
                logger.log(level, "[KRaftMigrationDriver id=%d] %s", self._node_id, text)
            case EndProcess(reason=reason):
                self._abort(reason)

    def _measure(self, effect: MeasureDualWrite) -> None:
        if effect.offset is not None:
            self.sensors.dual_write_offset = effect.offset
        if effect.milliseconds is not None:
            sensors = self.sensors
            wrote = sensors.wrote_snapshot if effect.is_snapshot else sensors.wrote_delta
            wrote(effect.milliseconds)

    async def _perform(self, effect: Perform) -> None:
        event: DriverEvent
        try:
            answer = await self._requests.perform(effect.request)
            event = Performed(token=effect.token, answer=answer)
        except KwireError as error:
            event = NotPerformed(token=effect.token, error=error)
        except Exception as error:
            self._runtime.fail(error)
            return
        self._take(event)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        self._cancel_timer()
        deadline = self._driver.deadline
        if deadline is not None and not self._stopped:
            # Not sooner than in a millisecond, by which the node's clock counts.
            delay = max(0.001, (deadline - self._runtime.now) / 1000)
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(delay, self._take, PollDriver())
