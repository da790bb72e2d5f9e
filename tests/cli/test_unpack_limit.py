"""`--unpack-limit` in commands that read records: a size, and the option named if it is less."""

import shutil
from pathlib import Path

import pytest

from kwire.batches import Compression, Record, RecordBatch, build_batch, read_batches
from kwire.batches.metadata_records import VersionedRecord
from kwire.cli.command_index import index, parameters
from kwire.messages.records.config import ConfigRecord
from tests.support.cli.command import Command
from tests.support.paths import FIXTURES

HISTORY = FIXTURES / "logdirs" / "kafka-3.9.1-history"
LOG = "__cluster_metadata-0"
ADVICE = "unpacks to more than 1048576 bytes; if you trust the sender, --unpack-limit 2 allows more"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A log directory with a batch of metadata that shrank more than a hundredfold."""
    directory = Path(shutil.copytree(HISTORY, tmp_path / "logs"))
    segment = directory / LOG / "00000000000000000000.log"
    *_, last = read_batches(segment.read_bytes())
    assert isinstance(last, RecordBatch)
    configs = [
        ConfigRecord(resource_type=4, resource_name="1", name=f"n{number}", value="v" * 30_000)
        for number in range(50)
    ]
    batch = build_batch(
        [Record(VersionedRecord(record=config, version=0).encode()) for config in configs],
        base_offset=last.last_offset + 1,
        partition_leader_epoch=last.partition_leader_epoch,
        compression=Compression.GZIP,
    )
    with segment.open("ab") as file:
        file.write(batch)
    return directory


@pytest.mark.parametrize(
    "words",
    [
        ("log", "dump", "{log}/00000000000000000000.log"),
        ("log", "history", "/configs/BROKER:1", "-d", "{directory}"),
        ("log", "blame", "/configs/BROKER:1", "-d", "{directory}"),
        ("shell", "-d", "{directory}", "ls", "/image/configs"),
        ("export", "{log}", "--only", "configs"),
        ("diff", "{log}", "{log}"),
    ],
)
def test_a_limit_that_is_too_low_is_named_with_the_option_that_raises_it(
    kwire: Command, directory: Path, words: tuple[str, ...]
) -> None:
    line = [word.format(directory=directory, log=directory / LOG) for word in words]
    run = kwire(*line)
    assert (run.code, run.err) == (0, "")
    run = kwire(*line, "--unpack-limit", "1")
    assert run.code != 0
    assert ADVICE in " ".join(run.err.split())


def test_every_command_that_reads_records_has_the_option() -> None:
    have = {
        command
        for command in index()["commands"]
        if any("--unpack-limit" in parameter["flags"] for parameter in parameters(command))
    }
    assert have == {
        *("capture cat", "decode", "diff", "export", "replay", "shell", "watch"),
        *("log blame", "log dump", "log history"),
        *("migration plan", "migration status", "migration verify", "migration watch"),
        *("pipeline ingest", "quorum explain", "storage recover"),
    }
