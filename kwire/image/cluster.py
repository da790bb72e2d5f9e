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
        """True if the broker is registered, unfenced and not in controlled shutdown."""
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def has_online_directory(self, broker_id: int, directory: UUID) -> bool:
        """True if the broker is registered and can use a replica in the directory."""
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.has_online_directory(directory)

    def register_broker(self, record: RegisterBrokerRecord) -> ClusterImage:
        """Add a broker, or replace one that comes back under a new epoch."""
        return self._with(BrokerRegistration.of(record))

    def unregister_broker(self, record: UnregisterBrokerRecord) -> ClusterImage:
        """Remove a broker."""
        broker = self._broker(record.broker_id, record.broker_epoch)
        return replace(self, brokers=self.brokers.remove(broker.id))

    def change_broker(self, record: BrokerRegistrationChangeRecord) -> ClusterImage:
        """Change a broker: fenced, unfenced, in controlled shutdown, or with other directories."""
        return self._with(self._broker(record.broker_id, record.broker_epoch).changed(record))

    def fence_broker(self, record: FenceBrokerRecord) -> ClusterImage:
        """Fence a broker, in logs of early KRaft."""
        return self._with(self._broker(record.id, record.epoch).with_fenced(True))

    def unfence_broker(self, record: UnfenceBrokerRecord) -> ClusterImage:
        """Unfence a broker, in logs of early KRaft."""
        return self._with(self._broker(record.id, record.epoch).with_fenced(False))

    def register_controller(self, record: RegisterControllerRecord) -> ClusterImage:
        """Add a controller, or replace one that comes back under a new incarnation."""
        controller = ControllerRegistration.of(record)
        return replace(self, controllers=self.controllers.insert(controller.id, controller))

    def unregister_controller(self, record: UnregisterControllerRecord) -> ClusterImage:
        """Remove a controller (KIP-1312)."""
        if record.controller_id not in self.controllers:
            raise ReplayError(f"controller {record.controller_id} is not registered")
        return replace(self, controllers=self.controllers.remove(record.controller_id))

    def records(self, at: MetadataVersion) -> Iterator[VersionedRecord]:
        """Yield the records that write them down: brokers, then controllers, by id."""
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
