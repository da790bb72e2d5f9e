"""The counts of a copy as Kafka logs them; the sentence is that of MigrationManifestTest.java."""

from __future__ import annotations

from kwire.batches.metadata_records import VersionedRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.topic import TopicRecord
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.migration.driver.manifest import MigrationManifest


def test_an_empty_manifest_has_no_average() -> None:
    assert MigrationManifest().text(0) == (
        "0 records were generated in 0 ms across 0 batches. The average time spent waiting on a"
        " batch was -1.00 ms. The record types were {}"
    )


def test_records_are_counted_by_type() -> None:
    manifest = MigrationManifest()
    records = [TopicRecord(), TopicRecord(), ConfigRecord(), UserScramCredentialRecord()]
    batch = [VersionedRecord(record=record, version=0) for record in records]
    manifest.add(batch, 10)
    manifest.add(batch[:1], 15)

    assert manifest.text(30) == (
        "5 records were generated in 30 ms across 2 batches. The average time spent waiting on a"
        " batch was 12.50 ms. The record types were"
        " {TOPIC_RECORD=3, CONFIG_RECORD=1, USER_SCRAM_CREDENTIAL_RECORD=1}"
    )
