"""The whole image: every part of a cluster's metadata at one offset (KIP-631)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from rpds import Queue

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.acls import AclsImage
from kwire.image.client_quotas import ClientQuotasImage
from kwire.image.cluster import ClusterImage
from kwire.image.configs import ConfigurationsImage
from kwire.image.delegation_tokens import DelegationTokensImage
from kwire.image.features import FeaturesImage
from kwire.image.producer_ids import ProducerIdsImage
from kwire.image.scram import ScramImage
from kwire.image.topics import TopicsImage


class MetadataImage(Struct, frozen=True, kw_only=True):
    """A value: applying a record makes another image that shares what did not change.

    unknown: records of types and versions that no declaration knows, in the order they came.
    before: the image at the start of an open metadata transaction (KIP-868), else None.
    """

    features: FeaturesImage = FeaturesImage()
    cluster: ClusterImage = ClusterImage()
    topics: TopicsImage = TopicsImage()
    configs: ConfigurationsImage = ConfigurationsImage()
    client_quotas: ClientQuotasImage = ClientQuotasImage()
    producer_ids: ProducerIdsImage = ProducerIdsImage()
    acls: AclsImage = AclsImage()
    scram: ScramImage = ScramImage()
    delegation_tokens: DelegationTokensImage = DelegationTokensImage()
    unknown: Queue[VersionedRecord] = Queue()
    before: MetadataImage | None = None

    @property
    def published(self) -> MetadataImage:
        """The image that may be shown: without the records of an open transaction (KIP-868)."""
        return self.before if self.before is not None else self

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the image as the records of a snapshot, in Kafka's order of parts.

        Record versions are those of its metadata.version. Records that were not understood are
        not in it: nobody knows whether later ones undo them.
        """
        version = self.features.metadata_version
        yield from self.features.records()
        yield from self.cluster.records(version)
        yield from self.topics.records(version, elr=self.features.elr_enabled)
        yield from self.configs.records()
        yield from self.client_quotas.records()
        yield from self.producer_ids.records()
        yield from self.acls.records()
        yield from self.scram.records()
        yield from self.delegation_tokens.records()


EMPTY = MetadataImage()
"""The image before the first record."""
