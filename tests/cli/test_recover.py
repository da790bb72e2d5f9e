"""`kwire storage recover` on directories: what it prints, what it refuses, and that it writes."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kwire.logdir.filesystem import DiskFile
from kwire.logdir.lock import LOCK_FILE
from kwire.logdir.names import METADATA_FOLDER, OffsetAndEpoch
from kwire.quorum_recovery.survivor import read_survivor
from tests.support.cli.command import Command
from tests.support.paths import ROOT
from tests.support.quorum_recovery.directories import CLUSTER, contents, make_controller

KAFKAS = ROOT / "fixtures/logdirs/kafka-4.3.1"
"""The directory of a controller of Kafka 4.3.1, whose only voter it is."""

APPLY = ("--apply", "--cluster-id", CLUSTER)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """The directory of controller 1, of three voters."""
    return make_controller(tmp_path / "c1", 1, epochs={1: 10, 3: 5})


def segment(folder: Path) -> Path:
    """Return the last segment of a directory's log."""
    return max((folder / METADATA_FOLDER).glob("*.log"))


def test_the_plan_says_what_the_files_of_kafka_say_and_writes_nothing(
    kwire: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "c1"
    shutil.copytree(KAFKAS, folder)
    before = contents(tmp_path)
    run = kwire("storage", "recover", str(folder), "--endpoint", "1=localhost:9999", "--json")
    assert run.code == 0, run.err
    (found,) = run.json["survivors"]
    assert found["metaProperties"] == {
        "cluster.id": CLUSTER,
        "directory.id": "TsruHszAR3Wpm-YuVDWgRQ",
        "node.id": "1",
        "version": "1",
    }
    assert found["quorumState"] == {"version": 1, "leaderEpoch": 1, "leaderId": 1, "votedId": None}
    assert (found["logStartOffset"], found["logEndOffset"], found["lastEpoch"]) == (0, 202, 1)
    assert found["checkpoint"] == {"offset": 178, "epoch": 1}
    assert found["highWatermarkAtLeast"] == 178
    assert found["kraftVersion"] == 1
    assert [item["offset"] for item in found["voterSets"]] == [0]
    assert run.json["voters"][0]["endpoints"] == [
        {"name": "CONTROLLER", "host": "localhost", "port": 9999}
    ]
    assert contents(tmp_path) == before


def test_people_read_each_file_the_reason_and_what_may_be_lost(
    kwire: Command, first: Path, tmp_path: Path
) -> None:
    second = make_controller(tmp_path / "c2", 2, voters=(1, 2, 3, 4, 5), epochs={1: 12})
    first = make_controller(tmp_path / "d1", 1, voters=(1, 2, 3, 4, 5), epochs={1: 10, 3: 5})
    run = kwire("storage", "recover", str(first), "--survivor", f"2={second}")
    assert run.code == 0, run.err
    for sentence in (
        "voters 1, 2, 3, 4 and 5 since offset 2, epoch 1; 1 is here, a copy of 2",
        "quorum-state     epoch 3, leader 1, no vote",
        "checkpoint       none: nothing proves a high watermark",
        "controller 1 is chosen as an election would, by the last epoch, then by the offset: its"
        " log ends at offset 19 of epoch 3, that of controller 2 at 15 of epoch 1",
        "acknowledged changes may be missing: 1 of 5 voters is here, and the others may have"
        " acknowledged more after offset 18",
        "offsets 0 to 18 may never have been acknowledged, and count from now on",
        "controller 2 alone has offsets 13 to 14 of epoch 1: it drops them when it follows",
        f"move {second} to the machine of controller 2, in place of its metadata directory",
        f"To do it, add --apply --cluster-id {CLUSTER}",
    ):
        assert sentence in run.out


def test_an_older_copy_makes_no_majority(kwire: Command, first: Path, tmp_path: Path) -> None:
    second = make_controller(tmp_path / "c2", 2, epochs={1: 10})
    run = kwire("storage", "recover", str(first), "--survivor", f"2={second}", "--json")
    assert run.code == 0, run.err
    assert [voter["controllerId"] for voter in run.json["voters"]] == [1, 2]
    assert run.json["losses"][0].startswith(
        "acknowledged changes may be missing: 1 of 3 voters is here"
    )


def test_a_copy_from_before_a_recovery_is_recovered_again(
    kwire: Command, first: Path, tmp_path: Path
) -> None:
    second = make_controller(tmp_path / "c2", 2, epochs={1: 10})
    older = shutil.copytree(second, tmp_path / "older")
    survivors = ("storage", "recover", str(first), "--survivor")
    assert kwire(*survivors, f"2={second}", *APPLY).code == 0
    assert kwire(*survivors, f"2={second}", "--json").json["alreadyDone"]
    run = kwire(*survivors, f"2={older}", "--json")
    assert not run.json["alreadyDone"]


def test_applying_backs_up_appends_the_voters_and_is_done_the_second_time(
    kwire: Command, first: Path
) -> None:
    before = contents(first)
    run = kwire("storage", "recover", str(first), *APPLY, "--json")
    assert run.code == 0, run.err
    backup = Path(run.json["backups"][str(first)])
    assert {p.relative_to(backup): d for p, d in contents(backup).items()} == {
        p.relative_to(first): d for p, d in before.items()
    }
    found = read_survivor(first)
    assert found.end == OffsetAndEpoch(offset=20, epoch=129_000)
    assert found.voter_sets[-1].position == OffsetAndEpoch(offset=19, epoch=129_000)
    assert found.voter_ids == {1}
    assert found.state.data.leader_epoch == 129_000
    after = contents(first)
    again = kwire("storage", "recover", str(first), *APPLY)
    assert "This recovery is done already; nothing was changed." in again.out
    # The first call may have ended before it printed this.
    assert "never start controllers 2 and 3 with the disks that they had" in again.out
    # The voters in force are those of the recovery: what was lost of the log is no longer known.
    assert "nothing that was acknowledged" not in again.out
    assert contents(first) == after


def test_a_recovery_that_keeps_the_voters_is_done_the_second_time(
    kwire: Command, first: Path, tmp_path: Path
) -> None:
    copies = [("--survivor", f"{n}={make_controller(tmp_path / f'c{n}', n)}") for n in (2, 3)]
    arguments = ("storage", "recover", str(first), *copies[0], *copies[1], *APPLY, "--json")
    assert kwire(*arguments).json["applied"]
    again = kwire(*arguments)
    assert (again.json["alreadyDone"], again.json["backups"]) == (True, {})


def test_the_steps_after_it_are_commands(kwire: Command, first: Path) -> None:
    steps = kwire("storage", "recover", str(first), "--json").json["next"]
    assert "start controller 1" in steps
    assert "kwire quorum check --bootstrap-controller 127.0.0.1:1" in steps
    assert "kwire quorum add-controller 2 --bootstrap-controller 127.0.0.1:1" in steps


def test_a_torn_end_is_said_and_cut_off(kwire: Command, first: Path) -> None:
    with segment(first).open("ab") as file:
        file.write(b"\0\0\0")
    run = kwire("storage", "recover", str(first))
    assert "ends with 3 bytes half written" in run.out
    assert kwire("storage", "recover", str(first), *APPLY).code == 0
    assert read_survivor(first).torn is None


def test_a_flipped_bit_is_said_with_what_would_be_left(
    kwire: Command, first: Path, tmp_path: Path
) -> None:
    second = make_controller(tmp_path / "c2", 2, epochs={1: 8}, voters=(1, 2, 3, 4, 5))
    path = first / METADATA_FOLDER / "00000000000000000000.log"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    before = contents(tmp_path)
    run = kwire("storage", "recover", str(first), str(second), "--json")
    assert run.code == 0, run.err
    (damaged,) = run.json["damaged"]
    assert damaged["directory"] == str(first)
    assert 0 < damaged["wholeUpTo"]["offset"] < 19
    refused = kwire("storage", "recover", str(first), str(second), *APPLY)
    assert refused.code == 1
    assert f"{path}, byte " in refused.error
    assert "whole before the damage" in refused.error
    assert contents(tmp_path) == before


def test_a_broker_that_has_more_than_is_left_is_named(
    kwire: Command, first: Path, tmp_path: Path
) -> None:
    ahead = make_controller(tmp_path / "b7", 7, epochs={1: 10, 3: 9})
    level = make_controller(tmp_path / "b8", 8, epochs={1: 10, 3: 5})
    run = kwire("storage", "recover", str(first), "--broker", str(ahead), "--broker", str(level))
    assert "broker 7 has 4 records from offset 19 on that are not left" in run.out
    assert "broker 8" not in run.out


def test_a_checkpoint_of_a_broker_proves_what_is_lost(kwire: Command, tmp_path: Path) -> None:
    """The broker has a checkpoint of Kafka's at offset 178, further than the log that is left."""
    broker = tmp_path / "b1"
    shutil.copytree(KAFKAS, broker)
    left = make_controller(tmp_path / "c1", 1, epochs={1: 10})
    run = kwire("storage", "recover", str(left), "--broker", str(broker))
    assert (
        "broker 1 has a checkpoint at offset 178, epoch 1: what was acknowledged from offset 13 on"
        " is lost" in run.out
    )


def test_clocks_that_disagree_are_said(kwire: Command, tmp_path: Path) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=5, minutes=1)
    times = {1: ahead, 2: ahead - timedelta(hours=3)}
    folder = make_controller(tmp_path / "c1", 1, epochs={1: 3, 2: 3}, times=times)
    run = kwire("storage", "recover", str(folder), "--json")
    late, step = run.json["clocks"]
    assert "5 hours after this machine's clock: set the clocks before" in late
    assert step == (
        "controller 1: times in its log go back by 3 hours: clocks of its leaders disagreed"
    )


def test_the_cluster_must_be_typed(kwire: Command, first: Path) -> None:
    run = kwire("storage", "recover", str(first), "--apply")
    assert run.code == 2
    assert "type its id, --cluster-id ID" in run.err


def refused(kwire: Command, tmp_path: Path, *arguments: str) -> str:
    """Return the sentence of a recovery that is refused; nothing was written."""
    before = contents(tmp_path)
    run = kwire("storage", "recover", *arguments)
    assert run.code == 1, run.out
    assert contents(tmp_path) == before
    return run.error


def test_directories_that_make_no_quorum_are_refused(
    kwire: Command, first: Path, tmp_path: Path
) -> None:
    other = make_controller(tmp_path / "other", 2, cluster_id="another-cluster-0000AA")
    broker = make_controller(tmp_path / "broker", 7)
    copy = make_controller(tmp_path / "copy", 1)
    second = make_controller(tmp_path / "second", 2)
    empty = tmp_path / "empty"
    empty.mkdir()
    one = str(first)
    assert "survivors are of one cluster" in refused(kwire, tmp_path, one, str(other))
    assert "which is no controller" in refused(kwire, tmp_path, one, str(broker))
    assert "are both of controller 1" in refused(kwire, tmp_path, one, str(copy))
    assert "are a majority: start them" in refused(kwire, tmp_path, one, str(second))
    assert "it has no meta.properties" in refused(kwire, tmp_path, str(empty))
    assert "does not exist" in refused(kwire, tmp_path, str(tmp_path / "gone"))
    assert refused(kwire, tmp_path, "--survivor", f"2={first}") == f"{first} is of node 1, not of 2"
    wrong = ("--apply", "--cluster-id", "another-cluster-0000AA")
    assert f"of cluster {CLUSTER}, not of another" in refused(kwire, tmp_path, one, *wrong)


def test_half_a_copy_is_refused(kwire: Command, first: Path, tmp_path: Path) -> None:
    log = first / METADATA_FOLDER
    (log / "quorum-state").unlink()
    assert "quorum-state, byte 0: is not there" in refused(kwire, tmp_path, str(first))
    shutil.rmtree(log)
    assert "empty metadata log" in refused(kwire, tmp_path, str(first))


def test_a_log_of_something_else_is_refused(kwire: Command, first: Path, tmp_path: Path) -> None:
    for path in (first / METADATA_FOLDER).glob("*.index"):
        path.unlink()
    for path in (first / METADATA_FOLDER).glob("*.timeindex"):
        path.unlink()
    for path in (first / METADATA_FOLDER).glob("*.log"):
        path.write_text("[2026-11-28 02:00:00,000] INFO Kafka Server started\n" * 40)
    sentence = refused(kwire, tmp_path, str(first), *APPLY)
    assert ".log, byte 0: " in sentence


def test_a_node_that_runs_is_left_alone(kwire: Command, first: Path, tmp_path: Path) -> None:
    with locked(first):
        sentence = refused(kwire, tmp_path, str(first))
    assert sentence == f"a node runs in {first}: stop it first"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Have another process hold the lock of a directory, as a node does."""
    code = (
        "import sys; from pathlib import Path; from kwire.logdir.lock import DirectoryLock;"
        "lock = DirectoryLock(Path(sys.argv[1])); print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        yield
    assert (folder / LOCK_FILE).exists()


def test_a_full_disk_leaves_everything_as_it_was(
    kwire: Command, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: DiskFile, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (first / LOCK_FILE).touch()
    monkeypatch.setattr(DiskFile, "append", full)
    sentence = refused(kwire, tmp_path, str(first), *APPLY)
    assert sentence.startswith(f"{first} cannot be copied to {first}.before-recovery-")
    assert sentence.endswith("No space left on device; nothing was changed")


def test_a_read_only_disk_leaves_everything_as_it_was(
    kwire: Command, first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & (os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real_open(path, flags, mode)

    real_open = os.open
    monkeypatch.setattr(os, "open", read_only)
    sentence = refused(kwire, tmp_path, str(first), *APPLY)
    assert "Read-only file system" in sentence
    assert str(first) in sentence


def test_endpoints_of_nobody_are_wrong_usage(kwire: Command, first: Path) -> None:
    run = kwire("storage", "recover", str(first), "--endpoint", "9=host:9093")
    assert run.code == 2
    assert "endpoints are given for controller 9, whose directory is not" in run.err


def test_a_listener_is_one_in_capital_and_small_letters(kwire: Command, first: Path) -> None:
    endpoint = ("--endpoint", "1=controller://host:9093")
    run = kwire("storage", "recover", str(first), *endpoint, "--json")
    assert run.json["voters"][0]["endpoints"] == [
        {"name": "CONTROLLER", "host": "host", "port": 9093}
    ]
    twice = kwire("storage", "recover", str(first), *endpoint, "--endpoint", "1=other:9093")
    assert twice.code == 2
    assert "two addresses are given for CONTROLLER of controller 1: give one" in twice.err


def test_a_wrong_port_is_wrong_usage(kwire: Command, first: Path) -> None:
    assert kwire("storage", "recover", str(first), "--endpoint", "1=host:99999").code == 2
