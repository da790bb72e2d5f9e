"""A test that leaves something in a shared cluster fails, whatever it leaves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kwire.admin.configs import AlterConfigOperation, ConfigChange
from kwire.admin.quotas import QuotaEntity
from kwire.admin.sync import AdminClient
from kwire.admin.topics import NewTopic, TopicGrowth
from kwire.messages.config_resource import ConfigResource, ResourceType
from real_kafka import Cluster
from tests.support.real_kafka import shared_cluster
from tests.support.real_kafka.own_names import OwnNames
from tests.support.real_kafka.shared_cluster import left_as_it_was

Change = Callable[[AdminClient, str], object]


def quota(admin: AdminClient, name: str, value: float | None) -> None:
    entity = QuotaEntity.of(user=name)
    admin.alter_client_quotas({entity: {"producer_byte_rate": value}}).all()


def setting(admin: AdminClient, name: str, value: str | None) -> None:
    operation = AlterConfigOperation.SET if value else AlterConfigOperation.DELETE
    change = ConfigChange(name="log.cleaner.threads", operation=operation, value=value)
    admin.incremental_alter_configs({ConfigResource(ResourceType.BROKER, ""): [change]}).all()


CHANGES: dict[str, tuple[Change, Change]] = {
    "left: topic": (
        lambda admin, name: admin.create_topics([NewTopic(name=name, partitions=1)]).all(),
        lambda admin, name: admin.delete_topics([name]).all(),
    ),
    "left: configuration": (
        lambda admin, name: setting(admin, name, "2"),
        lambda admin, name: setting(admin, name, None),
    ),
    "left: ClientQuotaRecord": (
        lambda admin, name: quota(admin, name, 1000.0),
        lambda admin, name: quota(admin, name, None),
    ),
}
"""The change that brings a failure about, and the one that takes it back, by how it begins."""


@pytest.mark.parametrize("failure", CHANGES)
def test_what_is_left_fails_the_test_that_leaves_it(
    combined: Cluster, own_name: OwnNames, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    change, undo = CHANGES[failure]
    name = own_name("left")
    monkeypatch.setattr(shared_cluster, "PATIENCE", 1.0)
    with AdminClient(bootstrap_servers=combined.bootstrap_servers) as admin:
        with pytest.raises(AssertionError, match=failure), left_as_it_was(combined, groups=False):
            change(admin, name)
        monkeypatch.undo()  # this test is judged, too
        undo(admin, name)


def test_a_topic_that_grows_is_another(
    combined: Cluster, own_name: OwnNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = own_name("grows", at=combined.bootstrap_servers)
    with AdminClient(bootstrap_servers=combined.bootstrap_servers) as admin:
        admin.create_topics([NewTopic(name=name, partitions=1)]).all()
        monkeypatch.setattr(shared_cluster, "PATIENCE", 1.0)
        with (
            pytest.raises(AssertionError, match=r"taken away: topic .*, partitions 1.*left: topic"),
            left_as_it_was(combined, groups=False),
        ):
            admin.create_partitions({name: TopicGrowth(partitions=2)}).all()
