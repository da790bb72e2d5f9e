"""Requests that make, use and lose eligible leader replicas, and switch the feature (KIP-966)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from kwire.codec.declaration import Request
from kwire.image import MetadataImage
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.a56_alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.metadata_versions import ELIGIBLE_LEADER_REPLICAS
from tests.support.controller.live.admin_session import Session, Step
from tests.support.controller.live.config_script import BROKER, DELETE, SET, TOPIC, alter

BROKERS = (1, 2, 3)
TOPICS = {"all": (1, 2, 3), "two": (1, 2), "one": (3,)}
MIN_ISR = "min.insync.replicas"
PREFERRED, UNCLEAN = 0, 1
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


class EligibleLeaders:
    """The script. image: the metadata at the end of the log, from which requests take epochs."""

    def __init__(self, session: Session, image: Callable[[], MetadataImage]) -> None:
        self._session = session
        self._image = image
        self._number = 0

    async def play(self) -> None:
        """Send everything, step by step."""
        for broker_id in BROKERS:
            await self._session.register(broker_id)
        async for step in self._steps():
            await self._session.take(step)

    async def _steps(self) -> AsyncIterator[Step]:
        yield self._created()
        # 1. Below min.insync.replicas who leaves the ISR stays eligible.
        for broker_id in (1, 2):
            yield self._beat(broker_id, want_fence=True)
        yield self._isr("all", 3)
        yield self._elect(PREFERRED)
        yield self._beat(2)
        yield self._isr("all", 3, 2)
        yield self._isr("two", 2, 1)
        yield self._beat(1)
        yield self._isr("two", 2, 1)
        # 2. Another min.insync.replicas clears what was counted by the one before.
        for broker_id in (1, 2):
            yield self._beat(broker_id, want_fence=True)
        yield self._configured(TOPIC, "all", SET, "1")
        yield self._configured(TOPIC, "all", DELETE, None)
        yield self._configured(BROKER, "", SET, "2")
        yield self._configured(BROKER, "", DELETE, None)
        yield self._configured(BROKER, "1", SET, "1")
        # 3. A replica that may have lost its records is eligible no more; at last none is.
        yield self._beat(1)
        yield self._beat(3, want_fence=True)
        yield self._beat(1, want_fence=True)
        yield self._named("unregister", UnregisterBrokerRequest(broker_id=2))
        await self._session.register(2, "again")
        yield self._elect(UNCLEAN)
        yield self._beat(3)
        # 4. The feature goes while partitions have eligible replicas.
        yield self._beat(1)
        yield self._isr("all", 2, 3)
        yield self._isr("two", 2, 1)
        for broker_id in (3, 1):
            yield self._beat(broker_id, want_fence=True)
        yield self._feature(0, UPGRADE)
        yield self._feature(0, SAFE_DOWNGRADE)
        async for step in self._without():
            yield step
        # 5. It comes back: one min.insync.replicas for all brokers.
        yield self._feature(1, SAFE_DOWNGRADE)
        yield self._feature(1, UPGRADE)
        for broker_id in (2, 3, 1):
            yield self._beat(broker_id, want_fence=True)
        for broker_id in (1, 2, 3):
            yield self._beat(broker_id)
        yield self._isr("all", 3, 1, 2)
        yield self._named("shutdown", self._heartbeat(1, want_shut_down=True))
        yield self._feature(0, UNSAFE_DOWNGRADE)
        yield self._feature(2, UPGRADE)

    async def _without(self) -> AsyncIterator[Step]:
        """Without the feature: the last of an ISR stays in it, whatever the ELR says."""
        for broker_id in (2, 1):
            yield self._beat(broker_id)
        yield self._isr("two", 2, 1)
        for broker_id in (3, 1, 2):
            yield self._beat(broker_id, want_fence=True)
        yield self._elect(UNCLEAN)
        yield self._configured(BROKER, "", DELETE, None)
        yield self._configured(BROKER, "1", SET, "3")
        for broker_id in (3, 1, 2):
            yield self._beat(broker_id)
        assigned = [CreatePartitionsAssignment(broker_ids=(2, 3))]
        growth = [CreatePartitionsTopic(name="two", count=2, assignments=assigned)]
        yield self._named("grow", CreatePartitionsRequest(topics=growth, timeout_ms=5000))

    def _named(self, name: str, request: Request) -> Step:
        self._number += 1
        return Step(name=f"{self._number}. {name}", request=request)

    def _created(self) -> Step:
        topics = [
            CreatableTopic(
                name=name,
                num_partitions=-1,
                replication_factor=-1,
                assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=ids)],
            )
            for name, ids in TOPICS.items()
        ]
        return self._named("create", CreateTopicsRequest(topics=topics, timeout_ms=5000))

    def _heartbeat(self, broker_id: int, **changes: bool) -> BrokerHeartbeatRequest:
        epoch = self._session.epochs[broker_id]
        beat = BrokerHeartbeatRequest(
            broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=epoch + 1_000_000
        )
        return beat.replace(**changes)

    def _beat(self, broker_id: int, **changes: bool) -> Step:
        beat = self._heartbeat(broker_id, **changes)
        return self._named(f"heartbeat of {broker_id} {' '.join(changes)}", beat)

    def _isr(self, name: str, *isr: int) -> Step:
        """The first of the ISR proposes it, by the epochs of the log."""
        topic = self._image().topics.topic(name)
        assert topic is not None
        partition = topic.partition(0)
        states = [BrokerState(broker_id=id, broker_epoch=self._session.epochs[id]) for id in isr]
        proposed = PartitionData(
            partition_index=0,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            new_isr_with_epochs=states,
        )
        request = AlterPartitionRequest(
            broker_id=isr[0],
            broker_epoch=self._session.epochs[isr[0]],
            topics=[TopicData(topic_id=topic.id, partitions=[proposed])],
        )
        return self._named(f"ISR {isr} of {name}", request)

    def _elect(self, type: int) -> Step:
        partitions = [TopicPartitions(topic=name, partitions=(0,)) for name in TOPICS]
        request = ElectLeadersRequest(
            election_type=type, topic_partitions=partitions, timeout_ms=5000
        )
        return self._named(f"election {type}", request)

    def _configured(self, type: int, name: str, operation: int, value: str | None) -> Step:
        step = alter("", type, name, (MIN_ISR, operation, value))
        return self._named(f"{MIN_ISR} {value} of {name or 'all brokers'}", step.request)

    def _feature(self, level: int, kind: int) -> Step:
        key = FeatureUpdateKey(
            feature=ELIGIBLE_LEADER_REPLICAS, max_version_level=level, upgrade_type=kind
        )
        request = UpdateFeaturesRequest(feature_updates=[key], timeout_ms=5000)
        return self._named(f"feature {level} by {kind}", request)
