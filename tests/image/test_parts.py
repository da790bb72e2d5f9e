"""Parts of the image that have no handlers yet, and what newer clusters may hold."""

from uuid import UUID

import pytest

from kwire.codec.declaration import MetadataRecord
from kwire.image import EMPTY, apply_all
from kwire.image.broker import BrokerRegistration
from kwire.image.partition import LOST, MIGRATING, UNASSIGNED
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.client_quota import ClientQuotaRecord, EntityData
from kwire.messages.records.delegation_token import DelegationTokenRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.producer_ids import ProducerIdsRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord
from kwire.messages.records.remove_delegation_token import RemoveDelegationTokenRecord
from kwire.messages.records.remove_user_scram_credential import RemoveUserScramCredentialRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord

LATEST = FeatureLevelRecord(name="metadata.version", feature_level=30)
ALICE = EntityData(entity_type="user", entity_name="alice")
ANYBODY = EntityData(entity_type="client-id", entity_name=None)
QUOTA = ClientQuotaRecord(entity=[ANYBODY, ALICE], key="producer_byte_rate", value=1.5)
ACL = AccessControlEntryRecord(
    id=UUID(int=1), resource_type=2, resource_name="foo", pattern_type=3, principal="User:a",
    host="*", operation=3, permission_type=3,
)  # fmt: skip
SCRAM = UserScramCredentialRecord(
    name="alice", mechanism=1, salt=b"1", stored_key=b"2", server_key=b"3", iterations=4096
)
TOKEN = DelegationTokenRecord(
    owner="User:a", requester="User:b", renewers=("User:c",), issue_timestamp=1, max_timestamp=3,
    expiration_timestamp=2, token_id="t",
)  # fmt: skip
CONTROLLER = RegisterControllerRecord(
    controller_id=3000, incarnation_id=UUID(int=3), zk_migration_ready=True
)


@pytest.mark.parametrize(
    "record",
    [QUOTA, ACL, SCRAM, TOKEN, CONTROLLER, ZkMigrationStateRecord(zk_migration_state=2)],
    ids=lambda record: type(record).__name__,
)
def test_a_snapshot_has_every_record_back(record: MetadataRecord) -> None:
    image = apply_all(EMPTY, [LATEST, record])

    assert [entry.record for entry in image.records()] == [LATEST, record]


def test_a_snapshot_has_the_quotas_of_a_default_before_those_of_names() -> None:
    """They are entities of one type, of which only one has a name."""
    default = QUOTA.replace(entity=[EntityData(entity_type="user", entity_name=None)])
    alice = QUOTA.replace(entity=[ALICE])

    image = apply_all(EMPTY, [LATEST, alice, default])

    assert [entry.record for entry in image.records()] == [LATEST, default, alice]


def test_a_snapshot_forgets_who_had_the_last_producer_ids() -> None:
    image = apply_all(EMPTY, [ProducerIdsRecord(broker_id=5, broker_epoch=9, next_producer_id=7)])

    (_, last) = image.records()
    assert last.record == ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=7)


@pytest.mark.parametrize(
    ("put", "remove"),
    [
        (QUOTA, QUOTA.replace(remove=True)),
        (ACL, RemoveAccessControlEntryRecord(id=UUID(int=1))),
        (SCRAM, RemoveUserScramCredentialRecord(name="alice", mechanism=1)),
        (TOKEN, RemoveDelegationTokenRecord(token_id="t")),
    ],
    ids=lambda record: type(record).__name__,
)
def test_what_is_removed_leaves_nothing(put: MetadataRecord, remove: MetadataRecord) -> None:
    assert apply_all(EMPTY, [put, remove]) == EMPTY


def test_a_token_that_was_expired_twice_is_removed_twice() -> None:
    """Kafka 3.9.1 wrote so, and its own nodes go on (Java: DelegationTokenDelta.replay)."""
    removal = RemoveDelegationTokenRecord(token_id="t")
    assert apply_all(EMPTY, [TOKEN, removal, removal]) == EMPTY


def test_the_parts_of_a_quotas_entity_have_no_order() -> None:
    other = QUOTA.replace(entity=[ALICE, ANYBODY], key="consumer_byte_rate")

    image = apply_all(EMPTY, [QUOTA, other])

    (quotas,) = image.client_quotas.entities.values()
    assert dict(quotas) == {"producer_byte_rate": 1.5, "consumer_byte_rate": 1.5}


def test_a_metadata_version_that_nobody_knows_is_kept() -> None:
    image = apply_all(EMPTY, [LATEST.replace(feature_level=99)])

    assert image.features.metadata_version.level == 99
    assert [record.record for record in image.records()] == [LATEST.replace(feature_level=99)]


def broker(*directories: int, cordoned: tuple[int, ...] | None = None) -> BrokerRegistration:
    return BrokerRegistration(
        id=1,
        epoch=1,
        incarnation_id=UUID(int=1),
        directories=tuple(UUID(int=directory) for directory in directories),
        cordoned_directories=None if cordoned is None else tuple(UUID(int=one) for one in cordoned),
    )


@pytest.mark.parametrize(
    ("directory", "online"),
    [
        (UUID(int=501), True),
        (UUID(int=777), False),
        (UNASSIGNED, True),
        (MIGRATING, True),
        (LOST, False),
    ],
)
def test_a_replica_is_usable_where_its_directory_is_online(directory: UUID, online: bool) -> None:
    """KIP-858."""
    assert broker(501, 502).has_online_directory(directory) == online


def test_brokers_that_have_not_said_their_directories_have_all_but_lost_ones() -> None:
    assert broker().has_online_directory(UUID(int=777))
    assert not broker().has_online_directory(LOST)


def test_a_new_replica_goes_to_the_only_directory_else_the_broker_decides() -> None:
    """Pitfall: a directory that is named saves the broker an AssignReplicasToDirs."""
    assert broker().default_directory == MIGRATING
    assert broker(501).default_directory == UUID(int=501)
    assert broker(501, 502).default_directory == UNASSIGNED


def test_cordoned_directories_take_no_new_replicas() -> None:
    """KIP-1066."""
    assert broker(501, cordoned=()).has_uncordoned_directories
    assert broker(501, 502, cordoned=(501,)).has_uncordoned_directories
    assert not broker(501, cordoned=(501,)).has_uncordoned_directories
