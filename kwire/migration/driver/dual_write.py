"""The writes to ZooKeeper for what a batch of metadata has changed (KIP-866).

Java: KRaftMigrationZkWriter.handleDelta, in its order of kinds. Inside of a kind Java has the order
of its hash maps; here it is that of the names.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from kwire.image.changes import MetadataChanges, TopicChange
from kwire.image.client_quotas import Entity
from kwire.image.topics import TopicImage
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.acls import (
    acl_resource,
    delete_acls,
    resource_entries,
    resource_order,
    write_acls,
)
from kwire.migration.driver.znode_writes.configs import (
    delete_configs,
    in_zookeeper,
    write_configs,
)
from kwire.migration.driver.znode_writes.delegation_tokens import delete_token, write_token
from kwire.migration.driver.znode_writes.names import (
    entity_text,
    possible,
    resource_text,
)
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.migration.driver.znode_writes.producer_ids import write_producer_ids
from kwire.migration.driver.znode_writes.quotas import user_of, write_quotas
from kwire.migration.driver.znode_writes.topics import (
    create_partitions,
    create_topic,
    delete_topic,
    same_assignment,
    update_partitions,
    update_topic,
)
from kwire.text.ids import uuid_text
from kwire.zookeeper.quota_texts import USER


def dual_write(
    changes: MetadataChanges, raft_epoch: int, passwords: PasswordWriter
) -> list[ZnodeWrite]:
    """Return the writes of the changes, in this order.

    1. Deleted topics, then created and changed ones.
    2. Configurations of topics and brokers.
    3. Quotas and SCRAM credentials, those of users alone at last.
    4. Producer ids.
    5. ACLs, by resource.
    6. Delegation tokens.
    """
    writes = chain(
        # 1.
        _deleted_topics(changes),
        _changed_topics(changes, raft_epoch),
        # 2.
        _configs(changes, passwords),
        # 3.
        _quotas(changes),
        # 4.
        _producer_ids(changes),
        # 5.
        _acls(changes),
        # 6.
        _tokens(changes),
    )
    return [possible(write) for write in writes]


def _deleted_topics(changes: MetadataChanges) -> Iterator[ZnodeWrite]:
    for topic in changes.deleted_topics:
        description = f"Deleted topic {topic.name}, ID {uuid_text(topic.id)}"
        yield delete_topic(topic.name, topic.partitions, description)


def _changed_topics(changes: MetadataChanges, raft_epoch: int) -> Iterator[ZnodeWrite]:
    for change in changes.topics.values():
        if change.after is not None and change.before is None:
            yield create_topic(change.after, raft_epoch)
        elif change.after is not None:
            yield from _changed_topic(change.after, change, raft_epoch)


def _changed_topic(topic: TopicImage, change: TopicChange, raft_epoch: int) -> Iterator[ZnodeWrite]:
    partitions = change.partitions.items()
    created = {number: item.after for number, item in partitions if item.after and not item.before}
    changed = {number: item.after for number, item in partitions if item.after and item.before}
    is_reassigned = any(
        item.before and item.after and not same_assignment(item.before, item.after)
        for _, item in partitions
    )
    if created or is_reassigned:
        yield update_topic(topic, "Updated")
    if created:
        yield create_partitions(topic, created, raft_epoch, "new")
    if changed:
        yield update_partitions(topic, changed, raft_epoch)


def _configs(changes: MetadataChanges, passwords: PasswordWriter) -> Iterator[ZnodeWrite]:
    resources = changes.after.configs.resources
    changed = {resource: change.after for resource, change in changes.configs.items()}
    # With a topic its configuration was deleted, though the one made anew has the same.
    gone = {topic.name for topic in changes.deleted_topics}
    again = [topic.name for topic in changes.created_topics if topic.name in gone]
    for resource in (ConfigResource(ResourceType.TOPIC, name) for name in again):
        if resource in resources:
            changed.setdefault(resource, resources[resource])
    for resource, after in changed.items():
        if not in_zookeeper(resource):
            continue
        text = resource_text(resource)
        if after:
            values = passwords.encoded(after)
            yield write_configs(resource, values, "UpdateConfig", f"Updated configs for {text}")
        else:
            yield delete_configs(resource, "DeleteConfig", f"Deleted configs for {text}")


def _quotas(changes: MetadataChanges) -> Iterator[ZnodeWrite]:
    users: dict[str | None, None] = {user.name: None for user in changes.scram}
    for entity in changes.client_quotas:
        user = user_of(entity)
        if user is not None:
            users[user[0]] = None
            continue
        write = write_quotas(changes.after, entity, f"Updated client quota {entity_text(entity)}")
        if write is not None:
            yield write
    for name in sorted(users, key=lambda name: (name is not None, name or "")):
        entity = Entity({(USER, name)})
        has_quotas = entity in changes.after.client_quotas.entities
        what = "client quota" if has_quotas else "scram credentials"
        write = write_quotas(changes.after, entity, f"Updated {what} for {entity_text(entity)}")
        if write is not None:
            yield write


def _producer_ids(changes: MetadataChanges) -> Iterator[ZnodeWrite]:
    if changes.producer_ids is not None and changes.producer_ids.after is not None:
        yield write_producer_ids(changes.producer_ids.after)


def _acls(changes: MetadataChanges) -> Iterator[ZnodeWrite]:
    rules = (acl for item in changes.acls.values() for acl in (item.before, item.after) if acl)
    for resource in sorted({acl_resource(acl) for acl in rules}, key=resource_order):
        entries = resource_entries(changes.after.acls, resource)
        if entries:
            yield write_acls(resource, entries)
        else:
            yield delete_acls(resource, "no more ACLs")


def _tokens(changes: MetadataChanges) -> Iterator[ZnodeWrite]:
    for id, change in changes.delegation_tokens.items():
        yield delete_token(id) if change.after is None else write_token(id, change.after)
