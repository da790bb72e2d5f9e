"""The brokers that run with ZooKeeper, as a controller tells them of metadata.

As kafka.controller.ControllerChannelManager with the connections of kafka.migration's
MigrationPropagator (KIP-866).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from kwire.image import EMPTY, MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.image.changes import MetadataChanges
from kwire.migration.driver.propagation import BrokerChanges, ControlRequestSender, is_told
from kwire.migration.node.broker_channel import BrokerChannel, ConnectToBroker
from kwire.migration.node.propagation_step import PropagationStep
from kwire.net.address import Address
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import Security
from kwire.net.tasks import cancel_and_wait

log = logging.getLogger(__name__)


class BrokerChannels:
    """One channel to each broker that is to be told: migrating, and not fenced.

    A broker that is fenced, or comes back as KRaft, loses its channel with all that waits in it;
    it gets everything when it is back.

    inter_broker_listener: the listener of a broker that is connected to. on_failure: called if a
    channel ends by an error that it does not expect, after which its broker is told nothing.
    """

    def __init__(
        self,
        node_id: int,
        inter_broker_listener: str,
        connect: ConnectToBroker,
        on_failure: Callable[[Exception], object],
    ) -> None:
        self._node_id = node_id
        self._listener = inter_broker_listener
        self._connect = connect
        self._on_failure = on_failure
        self._image = EMPTY
        self._channels: dict[int, BrokerChannel] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @classmethod
    def secured(
        cls,
        node_id: int,
        inter_broker_listener: str,
        security: Security,
        on_failure: Callable[[Exception], object],
    ) -> BrokerChannels:
        """Return channels over connections with TLS and a login, as brokers have among them."""
        connect = SecureConnect(security, str(node_id))  # as Java's client id
        return cls(node_id, inter_broker_listener, connect, on_failure)

    @property
    def waiting(self) -> Mapping[int, int]:
        """The number of steps that wait, by broker."""
        return {id: channel.waiting for id, channel in self._channels.items()}

    def send_full(self, image: MetadataImage, raft_epoch: int, zk_epoch: int) -> None:
        """Replace what all brokers know by a committed image.

        raft_epoch: of the image's last record. zk_epoch: the one that was claimed in ZooKeeper.
        """
        self._follow(image)
        step = PropagationStep.full(self._sender(zk_epoch), image, raft_epoch)
        self._send(step, image, raft_epoch, zk_epoch)

    def send_changes(self, changes: MetadataChanges, raft_epoch: int, zk_epoch: int) -> None:
        """Tell all brokers of a committed change. Epochs: as for `send_full`."""
        self._follow(changes.after)
        step = PropagationStep.incremental(self._sender(zk_epoch), changes, raft_epoch)
        self._send(step, changes.after, raft_epoch, zk_epoch)

    def forget(self) -> None:
        """End every channel, with all that waits: this node does not control the brokers."""
        for id in list(self._channels):
            self._remove(id)
        self._image = EMPTY

    async def close(self) -> None:
        """End every channel; return when all connections are closed."""
        self.forget()
        await cancel_and_wait(self._ending)

    def _sender(self, zk_epoch: int) -> ControlRequestSender:
        return ControlRequestSender(
            node_id=self._node_id, zk_epoch=zk_epoch, inter_broker_listener=self._listener
        )

    def _send(
        self, step: PropagationStep, image: MetadataImage, raft_epoch: int, zk_epoch: int
    ) -> None:
        newest: list[PropagationStep] = []

        def whole() -> PropagationStep:
            # One for all brokers that are behind.
            if not newest:
                newest.append(PropagationStep.full(self._sender(zk_epoch), image, raft_epoch))
            return newest[0]

        for channel in self._channels.values():
            channel.put(step, whole)

    def _follow(self, image: MetadataImage) -> None:
        """Begin and end channels by the brokers of an image."""
        told = {id: b for id, b in self._image.cluster.brokers.items() if is_told(b)}
        changes = BrokerChanges.of(told, image)
        for id in changes.removed:
            self._remove(id)
        for broker in changes.added:
            self._add(broker)
        self._image = image

    def _add(self, broker: BrokerRegistration) -> None:
        address = self._address(broker)
        if address is None:
            log.warning(
                "controller %d: broker %d has no listener %s and is not told of metadata: check"
                " inter.broker.listener.name",
                *(self._node_id, broker.id, self._listener),
            )
            return
        log.info("controller %d: broker %d at %s is told", self._node_id, broker.id, address)
        channel = BrokerChannel(self._node_id, broker.id, address, self._connect)
        self._channels[broker.id] = channel
        task = asyncio.get_running_loop().create_task(channel.run())
        task.add_done_callback(self._note_end)
        self._tasks[broker.id] = task

    def _note_end(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Exception):
            self._on_failure(error)

    def _address(self, broker: BrokerRegistration) -> Address | None:
        for endpoint in broker.endpoints:
            if endpoint.name == self._listener:
                return Address(endpoint.host, endpoint.port)
        return None

    def _remove(self, id: int) -> None:
        if self._channels.pop(id, None) is None:
            return
        log.info("controller %d: broker %d is not told any more", self._node_id, id)
        task = self._tasks.pop(id)
        task.cancel()
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
