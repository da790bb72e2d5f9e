"""The brokers and controllers of the image (org.apache.kafka.image.ClusterImage)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.broker import BrokerRegistration
from kwire.image.controller import ControllerRegistration
from kwire.image.errors import ReplayError
from kwire.messages.metadata_versions import MetadataVersion
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.fence_broker import FenceBrokerRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from kwire.messages.records.unfence_broker import UnfenceBrokerRecord
from kwire.messages.records.unregister_broker import UnregisterBrokerRecord
from kwire.messages.records.unregister_controller import UnregisterControllerRecord


class ClusterImage(Struct, frozen=True, kw_only=True):
    """Registered brokers and controllers, by node id."""

    brokers: HashTrieMap[int, BrokerRegistration] = HashTrieMap()
    controllers: HashTrieMap[int, ControllerRegistration] = HashTrieMap()

    def is_active(self, broker_id: int) -> bool:
        """Whether the broker is registered, unfenced and not in controlled shutdown."""
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def has_online_directory(self, broker_id: int, directory: UUID) -> bool:
        """Whether that broker is registered and can use a replica in that directory."""
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.has_online_directory(directory)

    def register_broker(self, record: RegisterBrokerRecord) -> ClusterImage:
        """A broker comes, or comes back under a new epoch."""
        return self._with(BrokerRegistration.of(record))

    def unregister_broker(self, record: UnregisterBrokerRecord) -> ClusterImage:
        """A broker goes."""
        broker = self._broker(record.broker_id, record.broker_epoch)
        return replace(self, brokers=self.brokers.remove(broker.id))

    def change_broker(self, record: BrokerRegistrationChangeRecord) -> ClusterImage:
        """A broker is fenced, unfenced, begins to stop, or has other directories."""
        return self._with(self._broker(record.broker_id, record.broker_epoch).changed(record))

    def fence_broker(self, record: FenceBrokerRecord) -> ClusterImage:
        """A broker is fenced, in logs of early KRaft."""
        return self._with(self._broker(record.id, record.epoch).with_fenced(True))

    def unfence_broker(self, record: UnfenceBrokerRecord) -> ClusterImage:
        """A broker is unfenced, in logs of early KRaft."""
        return self._with(self._broker(record.id, record.epoch).with_fenced(False))

    def register_controller(self, record: RegisterControllerRecord) -> ClusterImage:
        """A controller comes, or comes back under a new incarnation."""
        controller = ControllerRegistration.of(record)
        return replace(self, controllers=self.controllers.insert(controller.id, controller))

    def unregister_controller(self, record: UnregisterControllerRecord) -> ClusterImage:
        """A controller goes (KIP-1312)."""
        if record.controller_id not in self.controllers:
            raise ReplayError(f"controller {record.controller_id} is not registered")
        return replace(self, controllers=self.controllers.remove(record.controller_id))

    def records(self, at: MetadataVersion) -> Iterator[VersionedRecord]:
        """What writes them down: brokers, then controllers, in order of their ids."""
        for id in sorted(self.brokers):
            yield self.brokers[id].record(at)
        if at.supports_controller_registration:
            for id in sorted(self.controllers):
                yield self.controllers[id].record()

    def _broker(self, id: int, epoch: int) -> BrokerRegistration:
        broker = self.brokers.get(id)
        if broker is None or broker.epoch != epoch:
            raise ReplayError(f"broker {id} is not registered with epoch {epoch}")
        return broker

    def _with(self, broker: BrokerRegistration) -> ClusterImage:
        return replace(self, brokers=self.brokers.insert(broker.id, broker))
