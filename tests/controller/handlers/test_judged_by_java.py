"""Kafka's nodes load what random requests write, and have the same image of it."""

import pytest

from kwire.batches.metadata_records import read_metadata_record
from kwire.image import EMPTY, apply_all
from kwire.messages.metadata_versions import DEFAULT, LAST_OF_ZOOKEEPER, LATEST_PRODUCTION
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from tests.support.controller.random_log import played
from tests.support.controller.same_image import differences
from tests.support.seed import SEED
from vectors import ImageJudge

MARKS = BeginTransactionRecord, EndTransactionRecord
"""Java's MetadataBatchLoader takes them out."""


def _is_newer(line: str, release: str) -> bool:
    """True for a number that Kafka 3.9 reads as UNKNOWN: no metadata.version keeps it away."""
    unknown = ("operation=0,", "operation=15,", "resource_type=0,", "resource_type=32,")
    return release == "3.9.1" and any(text in line for text in unknown)


@pytest.mark.java
@pytest.mark.parametrize(
    ("release", "level", "seeds"),
    [
        ("4.3.1", DEFAULT, 10),
        pytest.param("4.3.1", DEFAULT, 300, marks=pytest.mark.nightly),
        pytest.param("4.4.0", LATEST_PRODUCTION, 100, marks=pytest.mark.releases),
        pytest.param("3.9.1", LAST_OF_ZOOKEEPER, 100, marks=pytest.mark.releases),
    ],
)
def test_kafka_has_the_same_image(
    release: str, level: int, seeds: int, subtests: pytest.Subtests
) -> None:
    with ImageJudge(release) as judge:
        for seed in range(SEED, SEED + seeds):
            with subtests.test(f"KWIRE_SEED={seed}"):
                lab = played(seed, 300, level)
                judged = judge(
                    record.encode() for record in lab.log if not isinstance(record.record, MARKS)
                )
                assert judged.error is None
                records = map(read_metadata_record, judged.records)
                told = differences(lab.image, apply_all(EMPTY, records))
                assert [line for line in told if not _is_newer(line, release)] == []
