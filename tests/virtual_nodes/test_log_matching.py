"""Logs that grow are held against each other, and against what was committed."""

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

from kwire.batches import Record, build_batch
from virtual_nodes.log_matching import LogMatching, flushed_end
from virtual_nodes.virtual_disk import VirtualDisk

SEGMENT = Path("/data/00000000000000000010.log")


def batch(base: int, epoch: int, value: bytes = b"a", records: int = 1) -> bytes:
    return build_batch(
        [Record(value=value)] * records, base_offset=base, partition_leader_epoch=epoch
    )


def node(
    batches: list[bytes], end: int, high_watermark: int = 0, role: str = "follower", epoch: int = 2
) -> Any:
    """Return a node with these batches, of one record each."""
    return SimpleNamespace(
        log=SimpleNamespace(
            start_offset=0, read=lambda offset, size, end: b"".join(batches[offset:end])
        ),
        raft=SimpleNamespace(end_offset=end, high_watermark=high_watermark, role=role, epoch=epoch),
    )


def signs(logs: LogMatching, id: int, changed: Any) -> list[str]:
    return [violation.split(":")[0] for violation in logs.changed(id, changed)]


def test_equal_logs_that_grow_and_are_cut_off_hold() -> None:
    logs, batches = LogMatching(), [batch(0, 1), batch(1, 1), batch(2, 2)]
    assert not signs(logs, 1, node(batches, 3, 1, "leader"))
    assert not signs(logs, 2, node([*batches[:1], batch(1, 1)], 2, 1))
    assert not signs(logs, 2, node(batches[:1], 1, 1))
    assert not signs(logs, 2, node(batches, 3, 3))


def test_other_bytes_of_one_epoch_and_offset_do_not_match() -> None:
    logs = LogMatching()
    assert not signs(logs, 1, node([batch(0, 1)], 1))
    assert signs(logs, 2, node([batch(0, 1, b"b")], 1)) == ["MATCHING"]


def test_another_batch_before_an_equal_one_does_not_match() -> None:
    logs = LogMatching()
    assert not signs(logs, 1, node([batch(0, 1), batch(1, 2), batch(2, 3)], 3))
    assert signs(logs, 2, node([batch(0, 1), batch(1, 1), batch(2, 3)], 3)) == ["MATCHING"]


def test_two_committed_batches_of_one_offset_are_found() -> None:
    logs = LogMatching()
    assert not signs(logs, 1, node([batch(0, 1)], 1, 1))
    assert signs(logs, 2, node([batch(0, 2)], 1, 1)) == ["ConsistentCommittedData"]


def test_cutting_off_what_is_committed_is_found() -> None:
    logs, batches = LogMatching(), [batch(0, 1), batch(1, 1)]
    assert not signs(logs, 1, node(batches, 2, 2))
    assert signs(logs, 1, node(batches, 1, 1)) == ["ConsistentCommittedData"]


def test_a_leader_without_a_committed_batch_is_found() -> None:
    logs = LogMatching()
    assert not signs(logs, 1, node([batch(0, 1)], 1, 1))
    assert signs(logs, 2, node([], 0, 0, "leader")) == ["LeaderCompleteness"]


def test_a_log_ends_on_the_disk_with_its_last_flushed_whole_batch() -> None:
    disk = VirtualDisk(Random(1), lambda seconds: None)
    disk.make_folder(SEGMENT.parent)
    assert flushed_end(disk) == 0
    file = disk.open(SEGMENT, write=True)
    file.append(batch(10, 1, records=3))
    file.flush()
    assert flushed_end(disk) == 0, "the name is not on the disk"
    disk.flush_folder(SEGMENT.parent)
    assert flushed_end(disk) == 13
    size = file.size()
    file.append(batch(13, 1) + batch(14, 1)[:-1])
    assert flushed_end(disk) == 13
    file.flush()
    assert flushed_end(disk) == 14
    file.truncate(size)
    file.append(batch(13, 2, b"a longer value than before"))
    file.flush()
    assert flushed_end(disk) == 14
    file.truncate(0)
    file.flush()
    assert flushed_end(disk) == 10
