"""Numbers of fields that the dissector names."""

import pytest

from kwire.dissector.source import dissector_source
from kwire.dissector.value_names import table_of


@pytest.mark.parametrize(
    ("message", "field", "table"),
    [
        ("LeaderAndIsrRequest", "type", "CONTROL_REQUESTS"),
        ("UpdateMetadataRequest", "type", "CONTROL_REQUESTS"),
        ("ZkMigrationStateRecord", "zk_migration_state", "ZK_MIGRATIONS"),
        ("CreateAclsRequest", "operation", "ACL_OPERATIONS"),
        ("DescribeConfigsResponse", "config_type", "CONFIG_TYPES"),
        ("VoteRequest", "type", ""),
    ],
)
def test_a_number_has_the_names_of_its_field(message: str, field: str, table: str) -> None:
    assert table_of(message, field, "int8") == table


def test_the_tables_of_a_migration_are_in_the_dissector() -> None:
    source = dissector_source()
    assert 'CONTROL_REQUESTS = { [0] = "UNKNOWN", [1] = "INCREMENTAL", [2] = "FULL" }' in source
    assert '[1] = "MIGRATION", [2] = "PRE_MIGRATION"' in source
    for name in ("CONTROL_REQUESTS", "ZK_MIGRATIONS"):
        assert source.count(name) > 1, f"no field refers to {name}"
