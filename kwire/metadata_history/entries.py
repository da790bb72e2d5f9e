"""Differences between two images as values at the paths of the shell's tree: `/topics/orders`.

Values are JSON values, as the shell prints them; passwords and keys are never among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kwire.batches.metadata_records import VersionedRecord
from kwire.configs.hidden_values import is_hidden
from kwire.image.changes import MetadataChanges, TopicChange, ValueChange
from kwire.image.features import ZkMigrationState
from kwire.image.scram import MECHANISMS, ScramCredential, ScramUser
from kwire.image.topics import TopicImage
from kwire.messages.config_resource import ConfigResource
from kwire.messages.data.voters_record import VotersRecord
from kwire.shell import values as render
from kwire.text.ids import uuid_text

SECRET_FIELDS = {"salt": "salt", "storedKey": "stored_key", "serverKey": "server_key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A value that is not the same before and after. None: it is not there.

    path: of a node of the shell's tree, short where there is a short one. field: of the node's
    value; None for the whole.
    """

    path: str
    field: str | None = None
    before: Any
    after: Any


def entries(changes: MetadataChanges, wanted: Callable[[str], bool]) -> Iterator[Entry]:
    """Yield the differences.

    A thing that is new or gone is one entry; of one that changed, each field is. wanted: returns
    False for the path of a partition that may be left out, which are most of a log.
    """
    for name, change in changes.features.items():
        yield from _feature(name, change)
    if changes.zk_migration_state is not None:
        path = "/features/zkMigrationState"
        yield from _differing(path, changes.zk_migration_state, _migration)
    for topic in changes.topics.values():
        yield from _topic(topic, wanted)
    for resource, configs in changes.configs.items():
        yield from _configs(resource, configs)
    for entity, quotas in changes.client_quotas.items():
        yield from _keys(f"/quotas/{render.entity_name(entity)}", quotas)
    for user, credential in changes.scram.items():
        yield from _credential(user, credential)
    for id, acl in changes.acls.items():
        yield from _differing(f"/acls/{uuid_text(id)}", acl, render.acl_value)
    for token_id, token in changes.delegation_tokens.items():
        value = partial(render.token_value, token_id)
        yield from _differing(f"/tokens/{token_id}", token, value)
    for broker_id, broker in changes.brokers.items():
        yield from _differing(f"/brokers/{broker_id}", broker, render.broker_value)
    for controller_id, controller in changes.controllers.items():
        yield from _differing(f"/controllers/{controller_id}", controller, render.controller_value)
    if changes.producer_ids is not None:
        yield from _differing("/producerIds/nextProducerId", changes.producer_ids, int)


def voter_entries(before: VotersRecord | None, after: VotersRecord) -> Iterator[Entry]:
    """Yield the differences between two voter sets (KIP-853)."""
    old = {} if before is None else {voter.voter_id: voter for voter in before.voters}
    new = {voter.voter_id: voter for voter in after.voters}
    for id in sorted(old.keys() | new.keys()):
        change = ValueChange(before=old.get(id), after=new.get(id))
        yield from _differing(f"/voters/{id}", change, render.voter_value)


def unknown_entries(records: Iterable[VersionedRecord], first: int) -> Iterator[Entry]:
    """Yield records that kwire does not know. first: the number of those before them."""
    for number, record in enumerate(records, first):
        text = f"record type {record.type}, version {record.version}"
        yield Entry(path=f"/unknownRecords/{number}", before=None, after=text)


def _feature(name: str, change: ValueChange[int]) -> Iterator[Entry]:
    yield from _differing(
        f"/features/{render.feature_name(name)}",
        change,
        lambda level: render.feature_value(name, level),
    )


def _topic(change: TopicChange, wanted: Callable[[str], bool]) -> Iterator[Entry]:
    topic = ValueChange(before=change.before, after=change.after)
    yield from _differing(f"/topics/{change.name}", topic, _topic_value)
    for number, partition in change.partitions.items():
        path = partition_path(change.name, number)
        if wanted(path):
            yield from _differing(path, partition, render.partition_value)


def partition_path(topic: str, number: int) -> str:
    """Return the path of a partition."""
    return f"/partitions/{topic}-{number}"


def _topic_value(topic: TopicImage) -> dict[str, Any]:
    return {"id": uuid_text(topic.id), "partitions": len(topic.partitions)}


def _configs(resource: ConfigResource, change: ValueChange[Mapping[str, str]]) -> Iterator[Entry]:
    path = f"/configs/{render.resource_name(resource)}"
    for entry in _keys(path, change):
        key = entry.path.removeprefix(f"{path}/")
        if not is_hidden(resource, key):
            yield entry
            continue
        old, new = (
            None if value is None else render.REDACTED for value in (entry.before, entry.after)
        )
        yield Entry(path=entry.path, before=old, after=new)


def _keys(path: str, change: ValueChange[Mapping[str, Any]]) -> Iterator[Entry]:
    """Yield the keys that differ, each of which is a node."""
    before, after = change.before or {}, change.after or {}
    for key in sorted({*before, *after}):
        if before.get(key) != after.get(key):
            yield Entry(path=f"{path}/{key}", before=before.get(key), after=after.get(key))


def _credential(user: ScramUser, change: ValueChange[ScramCredential]) -> Iterator[Entry]:
    path = f"/scram/{MECHANISMS.get(user.mechanism, user.mechanism)}/{user.name}"
    yield from _differing(path, change, render.scram_value)
    # A new password shows in fields that are not shown.
    if change.before is not None and change.after is not None:
        for name, attribute in SECRET_FIELDS.items():
            if getattr(change.before, attribute) != getattr(change.after, attribute):
                hidden = render.REDACTED
                yield Entry(path=path, field=name, before=hidden, after=hidden)


def _migration(state: int) -> str:
    return render.enum_name(ZkMigrationState, state)


def _differing(path: str, change: ValueChange[Any], value: Callable[[Any], Any]) -> Iterator[Entry]:
    old, new = (
        None if item is None else render.json_of(value(item))
        for item in (change.before, change.after)
    )
    if not (isinstance(old, dict) and isinstance(new, dict)):
        yield Entry(path=path, before=old, after=new)
        return
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            yield Entry(path=path, field=name, before=old.get(name), after=new.get(name))
