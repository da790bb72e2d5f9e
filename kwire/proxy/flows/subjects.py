"""The groups, transactions and partitions that a message is about, in whichever API it is.

What is named is what the message says: a partition of a topic's id is another name than one of the
topic's name. Members' assignments and records are opaque bytes and not looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import UUID

from kwire.codec.declaration import Group
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.proxy.flows.walk import RouteStep, along, known_route
from kwire.text.ids import uuid_text

Look = Callable[[int], None]
"""Takes the number of values in a list before they are looked at."""

_GROUP_FIELDS = frozenset({"group_id", "group_ids", "groups", "groups_names"})
# Markers of a transaction have nothing but the producer's id that names it.
_TRANSACTION_FIELDS = frozenset(
    {"transactional_id", "transactional_ids", "v3_and_below_transactional_id", "producer_id"}
)
_TOPIC_FIELDS = frozenset({"topic", "topic_name", "topic_id", "id"})
_PARTITION_FIELDS = frozenset({"partition_index", "partition", "partition_id"})
_PARTITIONS_FIELDS = frozenset({"partition_indexes", "partitions"})


def groups(message: Group, look: Look) -> Iterator[str]:
    """Yield the ids of groups: consumer, share and streams groups, and those of Connect."""
    return _ids(message, 0, _is_of_group, look)


def transactions(message: Group, look: Look) -> Iterator[str]:
    """Yield transactional ids, and the ids of producers."""
    return _ids(message, 1, _is_of_transaction, look)


def _ids(message: Group, key_type: int, wanted: Callable[[str], bool], look: Look) -> Iterator[str]:
    """Yield ids in fields, or in the keys of this type whose coordinator is asked for."""
    values = along(message, known_route(type(message), wanted), look)
    if isinstance(message, FindCoordinatorRequest) and message.key_type == key_type:
        values = iter((message.key, message.coordinator_keys))
    for value in values:
        several = value if isinstance(value, tuple) else (value,)
        look(len(several))
        yield from (str(one) for one in several if one not in (None, "", -1))


def topics(message: Group, look: Look) -> Iterator[str]:
    """Yield names and ids of topics."""
    for value in along(message, known_route(type(message), _is_of_topic), look):
        yield from _names(value)


def _names(value: object) -> Iterator[str]:
    # The topic of the cluster's metadata has one id in all clusters.
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, UUID) and value.int:
        yield uuid_text(value)
        if value == METADATA_TOPIC_ID:
            yield METADATA_TOPIC


def partitions(message: Group, look: Look, topic: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield partitions as `orders-3`. topic: the names of the one around this struct."""
    yield from _partitions(message, known_route(type(message), _is_within_topic), look, topic)


def _partitions(
    group: Group, steps: tuple[RouteStep, ...], look: Look, topic: tuple[str, ...]
) -> Iterator[str]:
    values = [(step, getattr(group, step.name)) for step in steps]
    named = (value for step, value in values if step.is_end and isinstance(value, str | UUID))
    topic = tuple(name for value in named for name in _names(value)) or topic
    for step, value in values:
        if isinstance(value, Group):
            yield from _partitions(value, step.below, look, topic)
        elif isinstance(value, list):
            look(len(value) * len(step.below))
            for element in value:
                yield from _partitions(element, step.below, look, topic)
        elif isinstance(value, tuple):
            look(len(value))
            yield from (f"{name}-{index}" for name in topic for index in value)
        elif step.name in (*_PARTITION_FIELDS, "index"):
            yield from (f"{name}-{value}" for name in topic)


def _is_of_group(path: str) -> bool:
    return path.rpartition(".")[2] in _GROUP_FIELDS


def _is_of_transaction(path: str) -> bool:
    return path.rpartition(".")[2] in _TRANSACTION_FIELDS


def _is_of_topic(path: str) -> bool:
    above, _, name = path.rpartition(".")
    struct = above.rpartition(".")[2]
    if name == "name":
        # Responses to Produce, DeleteTopics and reassignments call their topics `responses`.
        return "topic" in struct or path == "responses.name"
    return name in _TOPIC_FIELDS and struct != "directories"


def _is_within_topic(path: str) -> bool:
    above, _, name = path.rpartition(".")
    is_of_partition = name in _PARTITION_FIELDS or name in _PARTITIONS_FIELDS
    return is_of_partition or (name == "index" and "partition" in above) or _is_of_topic(path)
