"""Metadata read from files that Kafka wrote: its own checkpoint and its own log say the same."""

import shutil
from pathlib import Path

import pytest

from kwire.errors import FileError, InvalidValue
from kwire.observer.stored_metadata import is_checkpoint, read_checkpoint, read_metadata_folder
from tests.support.paths import FIXTURES

LOGDIRS = FIXTURES / "logdirs"
KAFKA = LOGDIRS / "kafka-4.3.1"
BROKERS = LOGDIRS / "kafka-4.3.1-brokers" / "__cluster_metadata-0"
SNAPSHOT = BROKERS / "00000000000000000158-0000000001.checkpoint"


def test_a_folder_is_read_to_the_end_of_its_log(tmp_path: Path) -> None:
    stored = read_metadata_folder(BROKERS)
    (tmp_path / "00000000000000000000.log").write_bytes(
        (BROKERS / "00000000000000000000.log").read_bytes()
    )
    without_snapshot = read_metadata_folder(tmp_path)
    assert stored.offset == without_snapshot.offset >= 158
    assert stored.image == without_snapshot.image
    assert stored.kraft_version == without_snapshot.kraft_version == 1


def test_a_checkpoint_is_the_metadata_at_its_offset() -> None:
    stored = read_checkpoint(SNAPSHOT)
    assert stored.offset == 158
    assert sorted(stored.image.topics.ids) == ["orders", "solo"]
    assert stored.kraft_version == 1


def test_the_cluster_id_is_that_of_meta_properties_beside_the_files() -> None:
    named = (KAFKA / "meta.properties").read_text().partition("cluster.id=")[2].split()[0]
    checkpoint = KAFKA / "__cluster_metadata-0" / "00000000000000000178-0000000001.checkpoint"
    assert read_metadata_folder(KAFKA).cluster_id == named
    assert read_metadata_folder(KAFKA / "__cluster_metadata-0").cluster_id == named
    assert read_checkpoint(checkpoint).cluster_id == named
    assert read_checkpoint(KAFKA / "bootstrap.checkpoint").cluster_id == named
    assert read_metadata_folder(BROKERS).cluster_id is None


def test_a_folder_is_not_changed_by_reading_it(tmp_path: Path) -> None:
    shutil.copytree(BROKERS, tmp_path / "copy")
    log = tmp_path / "copy" / "00000000000000000000.log"
    torn = log.read_bytes() + b"\0" * 7
    log.write_bytes(torn)
    assert read_metadata_folder(tmp_path / "copy") == read_metadata_folder(BROKERS)
    assert log.read_bytes() == torn


def test_a_copy_of_a_checkpoint_may_have_another_name(tmp_path: Path) -> None:
    copy = tmp_path / "nightly.checkpoint"
    shutil.copy(SNAPSHOT, copy)
    assert is_checkpoint(copy)
    assert read_checkpoint(copy).image == read_checkpoint(SNAPSHOT).image


def test_a_folder_without_a_metadata_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="give the folder __cluster_metadata-0"):
        read_metadata_folder(tmp_path)


def test_a_log_that_begins_after_the_snapshot_is_refused(tmp_path: Path) -> None:
    folder = KAFKA / "__cluster_metadata-0"
    shutil.copy(folder / "00000000000000000116.log", tmp_path)
    with pytest.raises(FileError, match="offsets 0 to 115 are missing"):
        read_metadata_folder(tmp_path)


def test_a_broken_batch_names_file_and_byte(tmp_path: Path) -> None:
    shutil.copytree(BROKERS, tmp_path / "copy")
    log = tmp_path / "copy" / "00000000000000000000.log"
    data = bytearray(log.read_bytes())
    data[200] ^= 0xFF
    log.write_bytes(data)
    (tmp_path / "copy" / SNAPSHOT.name).unlink()
    with pytest.raises(FileError, match=f"{log.name}, byte"):
        read_metadata_folder(tmp_path / "copy")
