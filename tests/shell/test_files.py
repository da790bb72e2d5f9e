"""Images of folders, checkpoints and segments, at every offset that they have."""

import shutil
from pathlib import Path

import pytest

from kwire.batches.metadata_records import VersionedRecord
from kwire.errors import FileError, InvalidValue
from kwire.image import EMPTY
from kwire.logdir.log import MetadataLog
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT
from kwire.logdir.snapshots import build_snapshot, write_snapshot
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.shell import DirectorySource, SingleFileSource
from kwire.shell.position import OffsetNotAvailable
from tests.support.paths import FIXTURES
from tests.support.shell.sessions import Session

LOGS = FIXTURES / "logdirs"
NODE = LOGS / "kafka-4.3.1"
METADATA = NODE / "__cluster_metadata-0"
BROKERS = LOGS / "kafka-4.3.1-brokers" / "__cluster_metadata-0"
SEGMENT = "00000000000000000000.log"
CHECKPOINT = "00000000000000000158-0000000001.checkpoint"


def copied(tmp_path: Path, *names: str, source: Path = METADATA) -> Path:
    """Return a folder with some files of a log."""
    for name in names:
        shutil.copyfile(source / name, tmp_path / name)
    return tmp_path


def test_a_log_directory_leads_to_the_folder_in_it() -> None:
    with DirectorySource(NODE) as outer, DirectorySource(METADATA) as inner:
        assert outer.latest() == inner.latest()
        assert outer.latest().offset == 201


def test_a_checkpoint_has_the_image_of_the_log_at_its_offset() -> None:
    with (
        SingleFileSource(BROKERS / CHECKPOINT) as checkpoint,
        SingleFileSource(BROKERS / SEGMENT) as segment,
    ):
        assert checkpoint.latest().image == segment.at(157).image
        assert checkpoint.latest().offset == 157
        assert checkpoint.latest().epoch == 1
        assert checkpoint.latest().timestamp == segment.at(157).timestamp


def test_every_offset_is_there_and_is_that_of_a_log_without_checkpoints(tmp_path: Path) -> None:
    plain = copied(tmp_path, SEGMENT, "00000000000000000116.log")
    with DirectorySource(METADATA) as source, DirectorySource(plain) as log:
        for offset in range(0, 202, 3):
            position = source.at(offset)
            assert position.image == log.at(offset).image
            assert position.offset is None or offset - 12 < position.offset <= offset
        with pytest.raises(OffsetNotAvailable, match=r"offset 202: it has offsets 0 to 201"):
            source.at(202)


def test_a_batch_is_there_whole_or_not_at_all() -> None:
    with SingleFileSource(BROKERS / SEGMENT) as source:
        images = [source.at(offset) for offset in range(40)]
    offsets = {position.offset for position in images}
    assert len(offsets) < 40
    for position in images:
        same = [other.image for other in images if other.offset == position.offset]
        assert all(image == position.image for image in same)


def test_before_the_first_checkpoint_of_a_shortened_log_the_offsets_are_named(
    tmp_path: Path,
) -> None:
    checkpoint, segment = "00000000000000000178-0000000001.checkpoint", "00000000000000000116.log"
    with DirectorySource(copied(tmp_path, checkpoint, segment)) as source:
        assert source.latest().offset == 201
        assert source.at(177).offset == 177
        with pytest.raises(OffsetNotAvailable, match=r"offset 176: it has offsets 177 to 201"):
            source.at(176)


def test_a_gap_before_the_records_is_named(tmp_path: Path) -> None:
    folder = copied(tmp_path, "00000000000000000116.log")
    with DirectorySource(folder) as source, pytest.raises(FileError) as raised:
        source.latest()
    assert str(raised.value).startswith(f"{folder / '00000000000000000116.log'}, byte 0: begins at")
    assert "the records from 0 on are missing" in str(raised.value)


def test_damage_is_named_with_file_and_place(tmp_path: Path) -> None:
    data = bytearray((METADATA / SEGMENT).read_bytes())
    data[200] ^= 1
    (tmp_path / SEGMENT).write_bytes(data)
    with DirectorySource(tmp_path) as source, pytest.raises(FileError, match=r"byte \d+: the CRC"):
        source.latest()
    broken = tmp_path / CHECKPOINT
    broken.write_bytes((BROKERS / CHECKPOINT).read_bytes()[:-50])
    with (
        SingleFileSource(broken) as file,
        pytest.raises(FileError, match=r"checkpoint, byte \d+: "),
    ):
        file.latest()


def test_a_batch_that_a_node_is_writing_is_not_there_yet(tmp_path: Path) -> None:
    data = (METADATA / SEGMENT).read_bytes()
    (tmp_path / SEGMENT).write_bytes(data[:-10])
    with DirectorySource(tmp_path) as source:
        offset = source.latest().offset
        assert offset is not None
        assert 100 < offset < 115
        # The files are read once, and again when that is asked for.
        (tmp_path / SEGMENT).write_bytes(data)
        assert source.latest().offset == offset
        assert Session(source)("at latest")[0].startswith("offset 115, ")


def test_the_file_of_formatting_has_its_records_and_no_place() -> None:
    with SingleFileSource(NODE / "bootstrap.checkpoint") as source:
        position = source.latest()
    assert position.image.features.has_metadata_version
    assert position.offset is None
    assert position.text == "offset -, epoch -, time -"


def test_a_first_checkpoint_is_not_mistaken_for_the_start_of_a_log(tmp_path: Path) -> None:
    first = "00000000000000000000-0000000000.checkpoint"
    with DirectorySource(copied(tmp_path, first)) as source:
        assert source.latest().offset is None
        with pytest.raises(OffsetNotAvailable, match="no records"):
            source.at(0)
    (tmp_path / first).unlink()
    record = FeatureLevelRecord(name="metadata.version", feature_level=30)
    batches = build_snapshot([VersionedRecord(record=record, version=0)], epoch=0, now=1)
    write_snapshot(tmp_path, BOOTSTRAP_SNAPSHOT, batches)
    with DirectorySource(copied(tmp_path, SEGMENT)) as source:
        assert source.latest().offset == 115
        # The record is in the log, too, and not yet at its beginning.
        assert source.at(0).image == EMPTY
        assert source.latest().image.features.has_metadata_version


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_folder_without_a_log_says_what_to_give(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(InvalidValue, match=r"__cluster_metadata-0"),
        DirectorySource(tmp_path / name),
    ):
        pass
    with pytest.raises(InvalidValue, match="--directory"), SingleFileSource(tmp_path):
        pass


def test_nothing_is_changed(tmp_path: Path) -> None:
    MetadataLog.open(copied(tmp_path, SEGMENT)).close()
    files = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    tmp_path.chmod(0o500)
    with DirectorySource(tmp_path) as source:
        source.at(50)
        source.latest()
    assert files == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    tmp_path.chmod(0o700)
