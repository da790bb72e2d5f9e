"""Brokers that are none: they register, beat, stop, come back, and ask for ISRs of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from uuid import UUID

from controller.simulator.cluster import CLUSTER_ID, Cluster
from controller.simulator.metadata import Metadata
from kwire.apis.a56_alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kwire.apis.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.apis.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.image import EMPTY, MetadataImage
from kwire.image.partition import RECOVERED
from kwire.metadata_versions import KRAFT_VERSION, LATEST_PRODUCTION, METADATA_VERSION, MINIMUM

BEAT_MS, ASK_MS = 300, 250
"""How often a broker beats, and asks for another ISR; up to twice as long."""

SILENT_MS = 4000
"""A broker that stops without a word, or hangs, is back within: two sessions."""

FEATURES = [
    Feature(
        name=METADATA_VERSION,
        min_supported_version=MINIMUM,
        max_supported_version=LATEST_PRODUCTION,
    ),
    Feature(name=KRAFT_VERSION, min_supported_version=0, max_supported_version=1),
]


class Mode(Enum):
    """What a broker is about."""

    DOWN = "down"
    RUNS = "runs"
    STOPS = "wants to stop"


@dataclass(slots=True)
class Broker:
    """One process after the other with the same id. epoch: None before it is registered."""

    id: int
    mode: Mode = Mode.RUNS
    incarnation: int = 1
    epoch: int | None = None
    known: MetadataImage = EMPTY


class Brokers:
    """All of them, and the way their requests take: late, lost, twice, to one that leads no more.

    is_calm: they run, beat, and ask for what is right.
    """

    def __init__(self, cluster: Cluster, count: int) -> None:
        self.is_calm = False
        self.members = [Broker(id) for id in range(101, 101 + count)]
        self._cluster, self._random = cluster, cluster.random
        for broker in self.members:
            every = cluster.scheduler.every
            every(BEAT_MS, BEAT_MS, partial(self._beat, broker))
            every(ASK_MS, ASK_MS, partial(self._ask_for_isr, broker))

    def calm(self) -> None:
        """No more harm; who is down comes back."""
        self.is_calm = True
        for broker in self.members:
            if broker.mode is not Mode.RUNS:
                self._restart(broker)

    def kill(self) -> None:
        """One ends without a word, and comes back as another incarnation, soon or late."""
        broker = self._random.choice(self.members)
        if broker.mode is not Mode.DOWN:
            self._ends(broker, "IS KILLED")

    def hang(self) -> None:
        """One says nothing for a while, and goes on as if nothing had been."""
        broker = self._random.choice(self.members)
        if broker.mode is Mode.RUNS:
            broker.mode = Mode.DOWN
            self._note(broker, "HANGS")
            self._later(SILENT_MS, partial(self._goes_on, broker, broker.incarnation))

    def stop(self) -> None:
        """One wants to stop in order."""
        broker = self._random.choice(self.members)
        if broker.mode is Mode.RUNS:
            broker.mode = Mode.STOPS
            self._note(broker, "WANTS TO STOP")

    def _ends(self, broker: Broker, how: str) -> None:
        broker.mode = Mode.DOWN
        self._note(broker, how)
        self._later(SILENT_MS, partial(self._comes_back, broker, broker.incarnation))

    def _comes_back(self, broker: Broker, incarnation: int) -> None:
        if broker.incarnation == incarnation:
            self._restart(broker)

    def _goes_on(self, broker: Broker, incarnation: int) -> None:
        if broker.mode is Mode.DOWN and broker.incarnation == incarnation:
            broker.mode = Mode.RUNS

    def _restart(self, broker: Broker) -> None:
        broker.mode, broker.epoch = Mode.RUNS, None
        broker.incarnation += 1
        self._note(broker, f"STARTS, {broker.incarnation}")

    def _beat(self, broker: Broker) -> None:
        """Learn what a controller has committed, and tell how far that is."""
        if broker.mode is Mode.DOWN or not self._cluster.running:
            return
        source = self._random.choice(self._cluster.running)
        assert isinstance(source.state, Metadata)
        broker.known = source.state.image
        if broker.epoch is None:
            self.send(self._registration(broker), 4, self._registered(broker))
            return
        request = BrokerHeartbeatRequest(
            broker_id=broker.id,
            broker_epoch=broker.epoch,
            current_metadata_offset=source.state.applied.offset - 1,
            want_fence=not self.is_calm and self._random.random() < 0.05,
            want_shut_down=broker.mode is Mode.STOPS,
        )
        self.send(request, 1, self._was_told(broker))

    def _registration(self, broker: Broker) -> Request:
        return BrokerRegistrationRequest(
            broker_id=broker.id,
            cluster_id=CLUSTER_ID,
            incarnation_id=UUID(int=(broker.id << 64) + broker.incarnation),
            listeners=[Listener(name="PLAINTEXT", host=f"h{broker.id}", port=9092)],
            features=FEATURES,
            rack=None,
            log_dirs=(UUID(int=(broker.id << 64) + (1 << 32)),),
        )

    def _registered(self, broker: Broker) -> Callable[[Response], None]:
        incarnation = broker.incarnation

        def registered(response: Response) -> None:
            assert isinstance(response, BrokerRegistrationResponse)
            if broker.incarnation == incarnation and not response.error_code:
                broker.epoch = response.broker_epoch

        return registered

    def _was_told(self, broker: Broker) -> Callable[[Response], None]:
        incarnation = broker.incarnation

        def told(response: Response) -> None:
            assert isinstance(response, BrokerHeartbeatResponse)
            if broker.incarnation != incarnation or broker.mode is Mode.DOWN:
                return
            if response.error_code == ErrorCode.STALE_BROKER_EPOCH:
                broker.epoch = None
            elif response.should_shut_down:
                self._ends(broker, "STOPS")

        return told

    def _ask_for_isr(self, broker: Broker) -> None:
        """For one of the partitions that it thinks it leads, mostly."""
        any_of_them = self._errs(0.05)
        found = broker.known.topics.partitions(
            lambda partition: any_of_them or partition.leader == broker.id
        )
        if not found or broker.epoch is None:
            return
        topic, number, partition = self._random.choice(found)
        isr = [id for id in partition.replicas if id == broker.id or self._random.random() < 0.7]
        self._random.shuffle(isr)
        version = self._random.choice((2, 3))
        wanted = PartitionData(
            partition_index=number,
            leader_epoch=partition.leader_epoch - self._errs(0.05) + self._errs(0.05),
            leader_recovery_state=RECOVERED,
            partition_epoch=partition.partition_epoch - self._errs(0.05) + self._errs(0.05),
        )
        if version == 2:
            wanted.new_isr = tuple(isr)
        else:
            wanted.new_isr_with_epochs = [self._broker_state(broker, id) for id in isr]
        request = AlterPartitionRequest(
            broker_id=broker.id,
            broker_epoch=broker.epoch - self._errs(0.05),
            topics=[TopicData(topic_id=topic.id, partitions=[wanted])],
        )
        self.send(request, version)

    def _broker_state(self, broker: Broker, id: int) -> BrokerState:
        registered = broker.known.cluster.brokers.get(id)
        if registered is None or self._errs(0.05):
            return BrokerState(broker_id=id, broker_epoch=-1)
        return BrokerState(broker_id=id, broker_epoch=registered.epoch)

    def send(
        self,
        request: Request,
        version: int,
        answered: Callable[[Response], None] = lambda response: None,
    ) -> None:
        """A request to a controller that leads, or thinks so; mostly it is answered."""
        if self._is_lost():
            return
        for _ in range(2 if self._errs(0.03) else 1):
            self._later(self._delay(), partial(self._arrives, request, version, answered))

    def _arrives(
        self, request: Request, version: int, answered: Callable[[Response], None]
    ) -> None:
        states = [machine.state for machine in self._cluster.running]
        active = [one for one in states if isinstance(one, Metadata) and one.controller.is_active]
        if not active:
            return

        def tell(response: Response) -> None:
            self._cluster.note("", _text(response))
            if not self._is_lost():
                self._later(self._delay(), partial(answered, response))

        self._cluster.note("", _text(request))
        self._random.choice(active).ask(request, version, tell)

    def _is_lost(self) -> bool:
        return self._errs(0.05)

    def _errs(self, share: float) -> bool:
        return not self.is_calm and self._random.random() < share

    def _delay(self) -> int:
        return 1500 if self._errs(0.05) else 10

    def _later(self, most: int, action: Callable[[], None]) -> None:
        self._cluster.scheduler.later(1 + self._random.randrange(most), action)

    def _note(self, broker: Broker, text: str) -> None:
        self._cluster.note(f"b{broker.id}", text)


def _text(message: Request | Response) -> str:
    return repr(message).replace(", unknown_tags=None", "")
