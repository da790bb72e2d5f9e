"""Kafka's nodes load what random requests write, and have the same image of it."""

import pytest

from kwire.batches.metadata_records import read_metadata_record
from kwire.image import EMPTY, apply_all
from kwire.messages.records.begin_transaction import BeginTransactionRecord
from kwire.messages.records.end_transaction import EndTransactionRecord
from tests.support.controller.random_log import played
from tests.support.controller.same_image import differences
from tests.support.seed import SEED
from vectors import ImageJudge

MARKS = BeginTransactionRecord, EndTransactionRecord
"""Java's MetadataBatchLoader takes them out."""


@pytest.mark.java
@pytest.mark.parametrize(
    "seeds", [pytest.param(10, id="10"), pytest.param(400, id="400", marks=pytest.mark.nightly)]
)
def test_kafka_has_the_same_image(seeds: int, subtests: pytest.Subtests) -> None:
    with ImageJudge("4.3.1") as judge:
        for seed in range(SEED, SEED + seeds):
            with subtests.test(f"KWIRE_SEED={seed}"):
                lab = played(seed, 300)
                judged = judge(
                    record.encode() for record in lab.log if not isinstance(record.record, MARKS)
                )
                assert judged.error is None
                records = map(read_metadata_record, judged.records)
                assert differences(lab.image, apply_all(EMPTY, records)) == []
