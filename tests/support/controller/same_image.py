"""The differences of two images, as the records that would be in one snapshot only."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from msgspec.structs import replace
from rpds import HashTrieMap

from kwire.batches.metadata_records import read_metadata_record
from kwire.image import MetadataImage


def differences(ours: MetadataImage, others: MetadataImage) -> list[str]:
    """Return a line for each record that only one of the images has, with a sign of its side."""
    here, there = _records(ours), _records(others)
    return sorted([f"- {record}" for record in here - there] + [f"+ {r}" for r in there - here])


def _records(image: MetadataImage) -> set[str]:
    written = (record.encode() for record in _in_order(image).records())
    return {repr(read_metadata_record(data)) for data in written}


def _in_order(image: MetadataImage) -> MetadataImage:
    """Return an image with the listeners of its nodes by name: Kafka keeps them in a hash map."""
    cluster = image.cluster
    brokers, controllers = _sorted(cluster.brokers), _sorted(cluster.controllers)
    return replace(image, cluster=replace(cluster, brokers=brokers, controllers=controllers))


def _sorted(nodes: Mapping[int, Any]) -> HashTrieMap[int, Any]:
    name = attrgetter("name")
    return HashTrieMap(
        {
            id: replace(node, endpoints=tuple(sorted(node.endpoints, key=name)))
            for id, node in nodes.items()
        }
    )
