"""The dynamic configuration of the image (org.apache.kafka.image.ConfigurationsImage)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.messages.config_resource import ConfigResource
from kwire.messages.records.config import ConfigRecord

EMPTY: HashTrieMap[str, str] = HashTrieMap()


class ConfigurationsImage(Struct, frozen=True, kw_only=True):
    """Keys with their values, by resource; a resource without keys is not there."""

    resources: HashTrieMap[ConfigResource, HashTrieMap[str, str]] = HashTrieMap()

    def of(self, type: int, name: str) -> HashTrieMap[str, str]:
        """Return the values that are set for one resource."""
        return self.resources.get(ConfigResource(type, name), EMPTY)

    def put(self, record: ConfigRecord) -> ConfigurationsImage:
        """Set the value of a key, or remove it if the value is None."""
        resource = ConfigResource(record.resource_type, record.resource_name)
        keys = self.resources.get(resource, EMPTY)
        if record.value is not None:
            keys = keys.insert(record.name, record.value)
        elif record.name in keys:
            keys = keys.remove(record.name)
        return self._with(resource, keys)

    def without(self, resource: ConfigResource) -> ConfigurationsImage:
        """Remove every key of a resource, as for a deleted topic."""
        return self._with(resource, EMPTY)

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the records that write it down."""
        for resource in sorted(self.resources):
            for name, value in sorted(self.resources[resource].items()):
                record = ConfigRecord(
                    resource_type=resource.type,
                    resource_name=resource.name,
                    name=name,
                    value=value,
                )
                yield VersionedRecord(record=record, version=0)

    def _with(self, resource: ConfigResource, keys: HashTrieMap[str, str]) -> ConfigurationsImage:
        if keys:
            return ConfigurationsImage(resources=self.resources.insert(resource, keys))
        if resource in self.resources:
            return ConfigurationsImage(resources=self.resources.remove(resource))
        return self
