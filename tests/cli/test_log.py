"""`kwire log dump` prints what kafka-dump-log prints."""

import json
import shutil
from pathlib import Path

from kwire.batches import Compression, Record, build_batch
from tests.support.cli.command import Command
from tests.support.paths import FIXTURES

GOLDEN = FIXTURES / "logdirs" / "kafka-4.3.1"


def test_a_segment_is_dumped_as_kafka_dumps_it(kwire: Command) -> None:
    run = kwire("log", "dump", str(GOLDEN / "bootstrap.checkpoint"))
    assert (run.code, run.err) == (0, "")
    expected = (GOLDEN / "dump.txt").read_text().splitlines()[1:13]
    assert run.out.splitlines()[1:] == expected


def test_what_is_wrong_goes_to_stderr_and_into_the_exit_code(
    kwire: Command, tmp_path: Path
) -> None:
    name = "00000000000000000000.log"
    data = (GOLDEN / "__cluster_metadata-0" / name).read_bytes()
    (tmp_path / name).write_bytes(data[:5000])
    run = kwire("log", "dump", str(tmp_path / name))
    assert run.code == 1
    assert run.out.splitlines()[-1] == f"Found 23 invalid bytes at the end of {name}"
    assert run.err == f"{tmp_path / name}, byte 4977: the batch is cut off\n"


def test_garbage_ends_the_dump_with_file_and_position(kwire: Command, tmp_path: Path) -> None:
    path = tmp_path / "quorum-state"
    path.write_text("garbage")
    run = kwire("log", "dump", str(path))
    assert run.code == 1
    assert run.err.startswith(f"Error: {path}, byte 0: not JSON")


def test_scripts_get_a_json_value_for_each_record(kwire: Command) -> None:
    log = GOLDEN / "__cluster_metadata-0" / "00000000000000000000.log"
    run = kwire("log", "dump", "--json", str(log))
    records = [json.loads(line) for line in run.out.splitlines()]
    assert (run.code, len(records)) == (0, 116)
    assert records[1] == {
        "file": str(log),
        "position": 0,
        "offset": 1,
        "epoch": 1,
        "timestamp": 1795256971935,
        "control": True,
        "type": "KRAFT_VERSION",
        "version": 0,
        "data": {"version": 0, "kRaftVersion": 1},
    }
    assert (records[4]["type"], records[4]["data"]["featureLevel"]) == ("FEATURE_LEVEL_RECORD", 30)
    run = kwire("log", "dump", "--json", str(GOLDEN / "meta.properties"))
    assert run.error.endswith("is no segment and no snapshot: only these have records")


def test_a_folder_without_a_log_is_told_which_folder_is_wanted(
    kwire: Command, tmp_path: Path
) -> None:
    run = kwire("log", "dump", str(tmp_path))
    assert run.code == 1
    assert run.err == (
        f"{tmp_path} has no segments, snapshots or quorum-state:"
        " give the folder of a node or of a partition, or a file of it\n"
    )


def test_the_folder_of_a_node_has_its_metadata_log(kwire: Command) -> None:
    inner = GOLDEN / "__cluster_metadata-0"
    whole, log = kwire("log", "dump", str(GOLDEN)), kwire("log", "dump", str(inner))
    assert whole.out.endswith(log.out)
    assert whole.out.startswith(f"Dumping {GOLDEN / 'bootstrap.checkpoint'}")
    records = kwire("log", "dump", "--json", str(GOLDEN)).out
    assert records.endswith(kwire("log", "dump", "--json", str(inner)).out)


def test_unknown_and_missing_files_are_named(kwire: Command, tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "meta.properties", tmp_path)
    run = kwire("log", "dump", str(tmp_path / "meta.properties"))
    assert (run.code, run.err) == (1, f"Ignoring unknown file {tmp_path / 'meta.properties'}\n")
    run = kwire("log", "dump", str(tmp_path / "missing.log"))
    assert run.code == 1
    assert "No such file" in run.err


def test_a_batch_is_shown_up_to_a_size_whatever_it_shrank_to(
    kwire: Command, tmp_path: Path
) -> None:
    segment = tmp_path / "00000000000000000000.log"
    record = Record(value=bytes(3_000_000))
    segment.write_bytes(build_batch([record], compression=Compression.GZIP))
    run = kwire("log", "dump", str(segment), "--unpack-limit", "2")
    assert run.code == 1
    advice = "unpacks to more than 2097152 bytes; if you trust the sender, --unpack-limit 4 allows"
    assert advice in run.error
    for _ in range(2):  # the limit ends with the command
        assert kwire("log", "dump", str(segment), "--unpack-limit", "3").code == 0
        assert kwire("log", "dump", str(segment), "--unpack-limit", "2").code == 1
        assert kwire("log", "dump", str(segment)).code == 0
