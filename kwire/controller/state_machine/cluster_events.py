"""The events of brokers, controllers and features for an operator, from committed metadata.

Java logs the same in ClusterControlManager, BrokerHeartbeatManager, ReplicationControlManager and
FeatureControlManager. Topics and partitions are not told: they change with every failure, and
`kwire log history` has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from kwire.controller.operator_events import OperatorEvent
from kwire.image import MetadataImage
from kwire.image.broker import BrokerRegistration
from kwire.image.cluster import ClusterImage
from kwire.image.features import FeaturesImage


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvent(OperatorEvent):
    """An event of the cluster's metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerActivated(ClusterEvent):
    """This node leads and has applied the whole log: it answers requests that write."""

    title: ClassVar[str] = "controller active"
    epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRegistered(ClusterEvent):
    """A broker registered, for the first time or after a restart."""

    title: ClassVar[str] = "broker registered"
    broker_id: int
    broker_epoch: int
    fenced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerUnregistered(ClusterEvent):
    """A broker was unregistered."""

    title: ClassVar[str] = "broker unregistered"
    broker_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSessionExpired(ClusterEvent):
    """No heartbeat of a broker came in time: this leader fences it."""

    title: ClassVar[str] = "broker session expired"
    broker_id: int
    silent_ms: int
    session_timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerFenced(ClusterEvent):
    """A broker is fenced: it leads nothing and is in no ISR."""

    title: ClassVar[str] = "broker fenced"
    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerUnfenced(ClusterEvent):
    """A broker is unfenced: clients see it."""

    title: ClassVar[str] = "broker unfenced"
    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerShutdownBegun(ClusterEvent):
    """A broker is in controlled shutdown: it hands its leaderships over."""

    title: ClassVar[str] = "broker in controlled shutdown"
    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRegistered(ClusterEvent):
    """A controller registered, for the first time or after a restart."""

    title: ClassVar[str] = "controller registered"
    controller_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureLevelChanged(ClusterEvent):
    """The finalised level of a feature changed, metadata.version included; 0: it is off."""

    title: ClassVar[str] = "feature level changed"
    feature: str
    before: int
    after: int


def cluster_events(before: MetadataImage, after: MetadataImage) -> Iterator[ClusterEvent]:
    """Yield what happened between two committed images; nothing if other parts changed only."""
    if after.cluster is not before.cluster:
        yield from _broker_events(before.cluster, after.cluster)
        yield from _controller_events(before.cluster, after.cluster)
    if after.features is not before.features:
        yield from _feature_events(before.features, after.features)


def _broker_events(before: ClusterImage, after: ClusterImage) -> Iterator[ClusterEvent]:
    for id in sorted(before.brokers):
        if id not in after.brokers:
            yield BrokerUnregistered(broker_id=id)
    for id in sorted(after.brokers):
        broker, known = after.brokers[id], before.brokers.get(id)
        if known is None or known.epoch != broker.epoch:
            yield BrokerRegistered(broker_id=id, broker_epoch=broker.epoch, fenced=broker.fenced)
        else:
            yield from _state_events(known, broker)


def _state_events(known: BrokerRegistration, broker: BrokerRegistration) -> Iterator[ClusterEvent]:
    if broker.in_controlled_shutdown and not known.in_controlled_shutdown:
        yield BrokerShutdownBegun(broker_id=broker.id, broker_epoch=broker.epoch)
    if broker.fenced and not known.fenced:
        yield BrokerFenced(broker_id=broker.id, broker_epoch=broker.epoch)
    if known.fenced and not broker.fenced:
        yield BrokerUnfenced(broker_id=broker.id, broker_epoch=broker.epoch)


def _controller_events(before: ClusterImage, after: ClusterImage) -> Iterator[ClusterEvent]:
    for id in sorted(after.controllers):
        known = before.controllers.get(id)
        if known is None or known.incarnation_id != after.controllers[id].incarnation_id:
            yield ControllerRegistered(controller_id=id)


def _feature_events(before: FeaturesImage, after: FeaturesImage) -> Iterator[ClusterEvent]:
    for feature in sorted({*before.levels, *after.levels}):
        old, new = before.level(feature), after.level(feature)
        if old != new:
            yield FeatureLevelChanged(feature=feature, before=old, after=new)
