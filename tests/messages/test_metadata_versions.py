"""The committed levels against those of Kafka 4.4.0's own code."""

from typing import Any

import pytest

import vectors
from kwire.errors import InvalidValue
from kwire.messages.metadata_versions import (
    DEFAULT,
    FEATURES,
    LATEST_PRODUCTION,
    LATEST_TESTING,
    NAMES,
    MetadataVersion,
    metadata_version,
    metadata_version_level,
)


def facts(name: str) -> Any:
    return vectors.facts("4.4.0")[name]


@pytest.mark.java
def test_every_level_has_kafkas_name_record_versions_and_abilities() -> None:
    table = facts("metadata_version")
    assert table["latest_production"] == LATEST_PRODUCTION
    assert table["latest_testing"] == LATEST_TESTING
    assert [row["level"] for row in table["levels"]] == list(NAMES)
    for row in table["levels"]:
        ours = MetadataVersion(row["level"])
        assert ours.name == row["version"]
        assert row["versions"] == {
            "fetchRequestVersion": ours.fetch_request,
            "listOffsetRequestVersion": ours.list_offsets_request,
            "partitionChangeRecordVersion": ours.partition_change_record,
            "partitionRecordVersion": ours.partition_record,
            "registerBrokerRecordVersion": ours.register_broker_record,
            "registerControllerRecordVersion": ours.register_controller_record,
        }
        assert row["supports"] | {"didMetadataChange": None} == {
            "didMetadataChange": None,
            "isCidrAclSupported": ours.supports_cidr_acls,
            "isControllerRegistrationSupported": ours.supports_controller_registration,
            "isControllerUnregistrationSupported": ours.supports_controller_unregistration,
            "isCordonedLogDirsSupported": ours.supports_cordoned_log_dirs,
            "isDelegationTokenSupported": ours.supports_delegation_tokens,
            "isDirectoryAssignmentSupported": ours.supports_directory_assignment,
            "isElrSupported": ours.supports_elr,
            "isLeaderEpochBumpRequiredOnIsrShrink": ours.bumps_leader_epoch_on_isr_shrink,
            "isMetadataTransactionSupported": ours.supports_metadata_transactions,
            "isMigrationSupported": ours.supports_migration,
            "isProduction": ours.is_production,
            "isScramSupported": ours.supports_scram,
        }


@pytest.mark.java
def test_every_feature_has_kafkas_levels_defaults_and_dependencies() -> None:
    rows = {row["name"]: row for row in facts("features")}
    assert sorted(rows) == sorted(FEATURES)
    for name, row in rows.items():
        ours = FEATURES[name]
        assert ours.latest == row["latest_production"] == row["latest_testing"]
        assert dict(ours.since) == {
            one["level"]: one["bootstrap_metadata_level"] for one in row["levels"]
        }
        assert dict(ours.needs) == {
            one["level"]: one["dependencies"]["metadata.version"]
            for one in row["levels"]
            if one["dependencies"]
        }
        for level, default in row["default_by_metadata_level"].items():
            assert ours.default(MetadataVersion(int(level))) == default


@pytest.mark.java
def test_new_clusters_begin_where_nodes_of_4_3_do() -> None:
    assert vectors.facts("4.3.1")["metadata_version"]["latest_production"] == DEFAULT


@pytest.mark.parametrize(
    ("text", "level"), [("4.4", 33), ("4.3-IV0", 30), ("4.0", 25), ("3.9", 21)]
)
def test_a_release_stands_for_its_last_level(text: str, level: int) -> None:
    assert metadata_version(text).level == level


@pytest.mark.parametrize("text", ["4.5-IV0", "9.9", "", "4"])
def test_an_unknown_or_unstable_name_is_refused_with_those_that_exist(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"3\.3-IV3, 3\.4-IV0"):
        metadata_version(text)


def test_a_level_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidValue, match="levels are 7 to 34"):
        metadata_version_level(99)
