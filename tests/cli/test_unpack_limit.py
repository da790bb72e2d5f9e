"""`--unpack-limit` in commands that read records: a size, and the option named if it is less."""

import shutil
from pathlib import Path

import pytest

from kwire.batches import Compression, Record, RecordBatch, build_batch, read_batches
from kwire.batches.metadata_records import VersionedRecord
from kwire.cli.command_index import index, parameters
from kwire.cli.flows.record_tree import record_trees
from kwire.cli.printer import Printer
from kwire.messages.a00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kwire.messages.records.config import ConfigRecord
from kwire.proxy.capture.recorder import Recorder, files_at
from tests.support.cli.command import Command
from tests.support.paths import FIXTURES
from tests.support.proxy.dialogue import asked
from tests.support.proxy.flows.dialogue_flows import decoded

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


@pytest.mark.parametrize(
    ("mebibytes", "shown"),
    [
        (2, "offset 0  value=2097152 bytes"),
        (65, "more than 67108864 bytes; if you trust the sender, kwire capture cat --unpack-limit"),
    ],
)
def test_the_proxy_reads_recordings_up_to_the_same_limit(
    kwire: Command, tmp_path: Path, mebibytes: int, shown: str
) -> None:
    batch = _batch(mebibytes)
    data = TopicProduceData(partition_data=[PartitionProduceData(records=batch)])
    path = tmp_path / "produce.avro"
    with Recorder(files_at(path)) as recorder:
        recorder(decoded(asked(ProduceRequest(topic_data=[data]), 9, 1)).flow)
    assert shown in kwire("proxy", "-r", str(path), "-v").out


def test_a_running_proxy_says_how_to_see_more(
    kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    async def run(*_: object) -> None:
        with Printer(gone=lambda: None) as printer:
            printer.put(lambda: shown.append(str(record_trees(_batch(2)))))

    monkeypatch.setattr("kwire.cli.proxy.run._run", run)
    assert kwire("proxy", "--listen", "127.0.0.1:0=127.0.0.1:1").code == 0
    assert "1048576 bytes; record it, and `kwire capture cat -v` shows more" in shown[0]


def _batch(mebibytes: int) -> bytes:
    record = Record(value=bytes(mebibytes << 20))
    return build_batch([record], compression=Compression.ZSTD)


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
