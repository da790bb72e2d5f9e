"""The image against what real Kafka made of the same log: the snapshots it wrote."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from kwire.batches import read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.image import EMPTY, MetadataImage, apply, apply_all
from kwire.logdir.names import OffsetAndEpoch
from kwire.logdir.snapshots import load_snapshot
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.register_controller import RegisterControllerRecord
from tests.support.paths import FIXTURES

LOGDIRS = FIXTURES / "logdirs"

SNAPSHOTS = [
    (path.parent, OffsetAndEpoch(offset=int(path.stem[:20]), epoch=int(path.stem[21:])))
    for path in sorted(LOGDIRS.glob("*/__cluster_metadata-0/*.checkpoint"))
    if not path.name.startswith("0" * 20)
]


def log_records(folder: Path) -> Iterator[tuple[int, VersionedRecord]]:
    for segment in sorted(folder.glob("*.log")):
        for batch in read_batches(segment.read_bytes()):
            if batch.is_control:
                continue
            for record in batch.records():
                yield record.offset, read_metadata_record(record.value or b"")


def replayed(folder: Path, end: int) -> MetadataImage:
    image = EMPTY
    for offset, record in log_records(folder):
        if offset < end:
            image = apply(image, record)
    return image


def written(records: Iterable[VersionedRecord]) -> list[bytes]:
    """Encode records; Kafka has features in the order of a Java HashMap, kwire in none."""
    for record in records:
        if isinstance(record.record, RegisterBrokerRecord | RegisterControllerRecord):
            record.record.features.sort(key=lambda feature: feature.name)
    return sorted(record.encode() for record in records)


@pytest.mark.parametrize(("folder", "snapshot"), SNAPSHOTS, ids=lambda value: str(value)[-40:])
def test_a_replayed_log_is_what_kafka_wrote_as_its_snapshot(
    folder: Path, snapshot: OffsetAndEpoch
) -> None:
    content = load_snapshot(folder, snapshot)

    image = replayed(folder, snapshot.offset)

    assert written(list(image.records())) == written(content.records)


@pytest.mark.parametrize(("folder", "snapshot"), SNAPSHOTS, ids=lambda value: str(value)[-40:])
def test_parts_come_in_the_order_of_kafkas_snapshots(
    folder: Path, snapshot: OffsetAndEpoch
) -> None:
    content = load_snapshot(folder, snapshot)
    image = apply_all(EMPTY, content.records)

    ours = list(dict.fromkeys(record.type for record in image.records()))

    assert ours == list(dict.fromkeys(record.type for record in content.records))


@pytest.mark.parametrize(("folder", "snapshot"), SNAPSHOTS, ids=lambda value: str(value)[-40:])
def test_an_image_and_its_snapshot_are_the_same_image(
    folder: Path, snapshot: OffsetAndEpoch
) -> None:
    image = replayed(folder, snapshot.offset)

    assert apply_all(EMPTY, image.records()) == image
