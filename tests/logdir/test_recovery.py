"""Opening a log after a crash, and after what no crash explains."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from kwire.batches import Record, build_batch
from kwire.errors import FileError, StorageFailed
from kwire.logdir.leader_epochs import parse_leader_epochs
from kwire.logdir.log import LogConfig, MetadataLog
from kwire.logdir.names import OffsetAndEpoch, segment_name
from kwire.logdir.quorum_state import QuorumState, read_quorum_state
from kwire.logdir.recovery import RecoveredLog, check_quorum_state, contradiction
from kwire.logdir.snapshots import build_snapshot, write_snapshot
from kwire.messages.data.quorum_state_data import QuorumStateData
from memory_files import MemoryFileSystem
from tests.support.logdir.batches import NO_OP, SMALL, batch
from tests.support.seed import SEED

FOLDER = Path("/log")


@pytest.fixture
def fs() -> MemoryFileSystem:
    """Ten batches of one record, all in one segment, flushed."""
    return ten_batches()


def ten_batches() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    with MetadataLog.open(FOLDER, fs) as log:
        for offset in range(10):
            log.append(batch(offset))
        log.flush()
    return fs


SEGMENT = FOLDER / segment_name(0)
SIZE = len(batch(0))


def contents(fs: MemoryFileSystem) -> dict[str, bytes]:
    return {name: fs.read_file(FOLDER / name) for name in fs.names(FOLDER)}


def change(fs: MemoryFileSystem, path: Path, how: Callable[[bytes], bytes]) -> None:
    fs.replace_file(path, how(fs.read_file(path)))


def cut_off(fs: MemoryFileSystem, count: int) -> None:
    """Cut the last bytes of the segment."""
    change(fs, SEGMENT, lambda data: data[:-count])


def test_a_last_batch_that_is_cut_off_is_cut_away(subtests: pytest.Subtests) -> None:
    for left in range(1, SIZE):
        with subtests.test(left=left):
            fs = ten_batches()
            cut_off(fs, SIZE - left)
            with MetadataLog.open(FOLDER, fs) as log:
                assert log.end_offset == 9
                assert log.torn is not None
                torn = log.torn.file, log.torn.position, log.torn.size
                assert torn == (SEGMENT, 9 * SIZE, left)
                log.append(batch(9))
            assert len(fs.read_file(SEGMENT)) == 10 * SIZE


@pytest.mark.parametrize("tail", [bytes(4096), b"\xff" * 300, b"torn" * 50, batch(9)[:40]])
def test_what_is_no_batch_at_the_end_is_cut_away(fs: MemoryFileSystem, tail: bytes) -> None:
    change(fs, SEGMENT, lambda data: data + tail)
    with MetadataLog.open(FOLDER, fs) as log:
        assert log.end_offset == 10
        assert log.torn is not None
        assert log.torn.size == len(tail)


BITS = [bit for bit in range(0, 8 * SIZE, 5) if bit // 8 not in range(12, 16)]
"""Some of every byte but those of the leader epoch, which the CRC does not cover."""


def test_a_broken_batch_before_whole_ones_is_reported_and_nothing_is_changed(
    subtests: pytest.Subtests,
) -> None:
    for bit in BITS:
        with subtests.test(bit=bit):
            fs = ten_batches()
            flip(fs, 8 * 4 * SIZE + bit)
            before = contents(fs)
            with pytest.raises(FileError, match=f"00000000000000000000.log, byte {4 * SIZE}: "):
                MetadataLog.open(FOLDER, fs)
            assert contents(fs) == before


def flip(fs: MemoryFileSystem, bit: int) -> None:
    """Flip one bit of the segment."""
    changed = bytearray(fs.read_file(SEGMENT))
    changed[bit // 8] ^= 1 << bit % 8
    fs.replace_file(SEGMENT, bytes(changed))


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        (batch(11), "offset 11 where 10 should be"),
        (batch(9), "offset 9 where 10 should be"),
        (batch(10, epoch=0), "epoch 0 after 1"),
    ],
)
def test_a_sound_batch_at_a_wrong_place_is_no_torn_tail(
    fs: MemoryFileSystem, added: bytes, reason: str
) -> None:
    change(fs, SEGMENT, lambda data: data + added)
    with pytest.raises(FileError, match=reason):
        MetadataLog.open(FOLDER, fs)


def test_a_torn_segment_before_the_last_is_reported() -> None:
    fs = MemoryFileSystem()
    with MetadataLog.open(FOLDER, fs, SMALL) as log:
        for offset in range(40):
            log.append(batch(offset))
    change(fs, SEGMENT, lambda data: data[:-10])
    with pytest.raises(FileError, match=r"00000000000000000000\.log, byte \d+: .*cut off"):
        MetadataLog.open(FOLDER, fs, SMALL)


def test_a_missing_segment_is_reported() -> None:
    fs = MemoryFileSystem()
    with MetadataLog.open(FOLDER, fs, SMALL) as log:
        for offset in range(60):
            log.append(batch(offset))
    middle = [name for name in fs.names(FOLDER) if name.endswith(".log")][2]
    fs.remove(FOLDER / middle)
    with pytest.raises(FileError, match="the segment before it ends at"):
        MetadataLog.open(FOLDER, fs, SMALL)


def test_a_log_that_begins_later_needs_a_snapshot(fs: MemoryFileSystem) -> None:
    for name in fs.names(FOLDER):
        fs.remove(FOLDER / name)
    fs.replace_file(FOLDER / segment_name(50), batch(50))
    with pytest.raises(FileError, match="begins at 50 without a snapshot"):
        MetadataLog.open(FOLDER, fs)


@pytest.mark.parametrize(
    "name",
    [
        "00000000000000000000.log.deleted",
        "00000000000000000000.index.deleted",
        "00000000000000000005-0000000001.checkpoint.deleted",
        "00000000000000000005-0000000001-123456.checkpoint.part",
        "00000000000000000005-0000000001.checkpoint.part",
        "quorum-state.tmp",
    ],
)
def test_what_was_never_finished_is_removed(fs: MemoryFileSystem, name: str) -> None:
    fs.replace_file(FOLDER / name, b"half")
    MetadataLog.open(FOLDER, fs).close()
    assert name not in fs.names(FOLDER)


def test_files_of_others_are_left_alone(fs: MemoryFileSystem) -> None:
    fs.replace_file(FOLDER / "notes.txt", b"mine")
    MetadataLog.open(FOLDER, fs).close()
    assert fs.read_file(FOLDER / "notes.txt") == b"mine"


@pytest.mark.parametrize(
    "data", [b"0\n1\n", b"1\n0\n", b"0\n1_0\n", b"\xff\xfe", b"\xef\xbb\xbf0\n0\n"]
)
def test_a_garbled_epoch_checkpoint_is_reported(fs: MemoryFileSystem, data: bytes) -> None:
    fs.replace_file(FOLDER / "leader-epoch-checkpoint", data)
    with pytest.raises(FileError, match="leader-epoch-checkpoint, byte 0"):
        MetadataLog.open(FOLDER, fs)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (b"x y", "byte 4: line 3: not an epoch and an offset"),
        (b"-1 0", "byte 4: line 3: not an epoch and an offset"),
        (b"0 -1", "byte 4: line 3: not an epoch and an offset"),
        (b"1_0 0", "byte 4: line 3: not an epoch and an offset"),
        (b"2147483648 0", "byte 4: line 3: offset 0, epoch 2147483648 is more than there can be"),
        (b"0 9223372036854775808", "byte 4: line 3: offset 9223372036854775808, epoch 0 is more"),
        (b"1 0\n1 5", "byte 8: line 4: offset 5, epoch 1 after offset 0, epoch 1: both only grow"),
        (b"2 0\n1 5", "byte 8: line 4: offset 5, epoch 1 after offset 0, epoch 2: both only grow"),
        (b"1 5\n2 5", "byte 8: line 4: offset 5, epoch 2 after offset 5, epoch 1: both only grow"),
    ],
)
def test_an_epoch_that_kafka_never_writes_is_reported_with_its_line(
    lines: bytes, reason: str
) -> None:
    data = b"0\n%d\n%s\n" % (lines.count(b"\n") + 1, lines)
    with pytest.raises(FileError, match=f"leader-epoch-checkpoint, {reason}"):
        parse_leader_epochs(data, FOLDER / CHECKPOINT)


def test_lines_of_windows_are_read_as_java_reads_them() -> None:
    starts = parse_leader_epochs(b"0\r\n2\r\n1 0\r\n3\t7\r\n", FOLDER / CHECKPOINT).starts
    assert [(start.epoch, start.offset) for start in starts] == [(1, 0), (3, 7)]


@pytest.mark.parametrize("data", [None, b""])
def test_an_epoch_checkpoint_that_is_missing_or_new_is_made_from_the_batches(
    fs: MemoryFileSystem, data: bytes | None
) -> None:
    """Kafka's is empty until the first epoch (CheckpointFile)."""
    before = contents(fs)
    fs.remove(FOLDER / "leader-epoch-checkpoint")
    if data is not None:
        fs.replace_file(FOLDER / "leader-epoch-checkpoint", data)
    MetadataLog.open(FOLDER, fs).close()
    assert contents(fs) == before


def votes_of(*, leader: int = 1, epoch: int = 2, vote: int = -1, voter: int = 1) -> bytes:
    return (
        b'{"clusterId":"","leaderId":%d,"leaderEpoch":%d,"votedId":%d,"appliedOffset":0,'
        b'"currentVoters":[{"voterId":%d}],"data_version":0}' % (leader, epoch, vote, voter)
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "data_version"),
        (b"{}", "data_version"),
        (b'{"data_version":2}', "data_version 2 is not known"),
        (b'{"data_version":true}', "data_version"),
        (votes_of(leader=-2), "line 1: leaderId is -2, below -1"),
        (votes_of(vote=-2), "line 1: votedId is -2, below -1"),
        (votes_of(epoch=-1), "line 1: leaderEpoch is -1, below 0"),
        (votes_of(voter=-1), "line 1: voterId is -1, below 0"),
        (votes_of(epoch=1 << 31), "leaderEpoch"),
        (b'{"data_version":1,"leaderId":"x"}', "leaderId"),
        (b'{"data_version":1,"leaderId":1}', "leaderEpoch"),
    ],
)
def test_a_garbled_quorum_state_is_reported(data: bytes, reason: str) -> None:
    fs = MemoryFileSystem()
    fs.replace_file(FOLDER / "quorum-state", data)
    with pytest.raises(FileError, match=f"quorum-state, byte 0: .*{reason}"):
        read_quorum_state(FOLDER, fs)


def test_a_quorum_state_of_a_static_quorum_is_read() -> None:
    fs = MemoryFileSystem()
    line = votes_of()
    fs.replace_file(FOLDER / "quorum-state", line)
    state = read_quorum_state(FOLDER, fs)
    assert state is not None
    assert (state.version, state.data.leader_epoch) == (0, 2)
    assert state.encode() == line


class PowerCut(OSError):
    """The end of a run."""


def churn(fs: MemoryFileSystem, acknowledged: list[int]) -> None:
    """Append, flush, roll, snapshot, clean, truncate; notes what was flushed."""
    log = MetadataLog.open(FOLDER, fs, LogConfig(segment_bytes=400))
    for offset in range(log.end_offset, 24):
        log.append(batch(offset))
        if offset % 2:
            log.flush()
            acknowledged.append(offset)
        if offset == 11:
            made = OffsetAndEpoch(offset=8, epoch=1)
            file = log.begin_snapshot(made)
            for data in build_snapshot([NO_OP], epoch=1, now=1):
                file.append(data)
            file.freeze()
            log.add_snapshot(made)
            log.delete_before(made)
    log.append(batch(24))
    log.truncate_to(24)
    log.close()


@pytest.mark.parametrize("torn", ["nothing", "a part", "garbage"])
def test_a_power_cut_at_any_operation_loses_nothing_that_was_flushed(torn: str) -> None:
    draw = random.Random(SEED)

    def rest(path: Path, data: bytes) -> bytes:
        if not data or torn == "nothing":
            return b""
        return data[: draw.randrange(len(data) + 1)] if torn == "a part" else b"\x00\xff" * 40

    cuts, finished = 0, False
    while not finished:
        left = [cuts]

        def fault(operation: str, path: Path, left: list[int] = left) -> None:
            if not left[0]:
                raise PowerCut(f"{operation} {path}")
            left[0] -= 1

        fs, acknowledged = MemoryFileSystem(fault), list[int]()
        try:
            churn(fs, acknowledged)
            finished = True
        except (PowerCut, StorageFailed):
            cuts += 1
        fs.fault = None
        fs.crash(rest)
        with MetadataLog.open(FOLDER, fs, LogConfig(segment_bytes=400)) as log:
            assert log.end_offset > max(acknowledged, default=-1)
            offsets = [log_batch.base_offset for log_batch in log.batches(log.start_offset)]
            assert offsets == list(range(log.start_offset, log.end_offset))
            if log.start_offset:
                assert log.snapshots
    assert cuts > 100


SNAPSHOT = OffsetAndEpoch(offset=30, epoch=2)
BASES = [0, 7, 14, 21, 28, 35]
"""Of the segments of `a_long_log`: epoch 1 begins at 0, epoch 2 at 20, epoch 3 at 37."""

CHECKPOINT, QUORUM_STATE = "leader-epoch-checkpoint", "quorum-state"


def a_long_log() -> MemoryFileSystem:
    """Six segments, three epochs, a snapshot, closed in order."""
    fs = MemoryFileSystem()
    with MetadataLog.open(FOLDER, fs, LogConfig(segment_bytes=7 * SIZE)) as log:
        for offset in range(40):
            epoch = 1 + (offset >= 20) + (offset >= 37)
            log.append(batch(offset, epoch=epoch, timestamp=1000 + offset))
        write_snapshot(FOLDER, SNAPSHOT, snapshot_of(epoch=2), fs)
        log.add_snapshot(SNAPSHOT)
    votes(3)(fs)
    assert [int(name[:20]) for name in fs.names(FOLDER) if name.endswith(".log")] == BASES
    return fs


def snapshot_of(*, epoch: int) -> list[bytes]:
    return list(build_snapshot([NO_OP], epoch=epoch, now=1))


def remove(*names: str) -> Callable[[MemoryFileSystem], None]:
    def damage(fs: MemoryFileSystem) -> None:
        for name in names:
            fs.remove(FOLDER / name)

    return damage


def write_to(name: str, data: bytes) -> Callable[[MemoryFileSystem], None]:
    return lambda fs: fs.replace_file(FOLDER / name, data)


def cut(name: str, size: int) -> Callable[[MemoryFileSystem], None]:
    return lambda fs: change(fs, FOLDER / name, lambda data: data[:size])


def both(*damages: Callable[[MemoryFileSystem], None]) -> Callable[[MemoryFileSystem], None]:
    def damage(fs: MemoryFileSystem) -> None:
        for one in damages:
            one(fs)

    return damage


def segment(base: int, suffix: str = "log") -> str:
    return f"{base:020d}.{suffix}"


def indexes(base: int) -> Callable[[MemoryFileSystem], None]:
    return remove(segment(base, "index"), segment(base, "timeindex"))


def votes(epoch: int) -> Callable[[MemoryFileSystem], None]:
    data = QuorumStateData(leader_id=-1, leader_epoch=epoch, voted_id=-1)
    return write_to(QUORUM_STATE, QuorumState(data=data, version=0).encode())


ALL_SEGMENTS = [segment(base) for base in BASES]
SNAPSHOT_FILE = "00000000000000000030-0000000002.checkpoint"
ONLY_EPOCHS = both(*map(indexes, BASES))
"""Leave nothing but the epochs to tell of the log: a process that was killed wrote no index."""

WHOLE_BATCHES = snapshot_of(epoch=2)
WHOLE = b"".join(WHOLE_BATCHES)

Damage = Callable[[MemoryFileSystem], None]
LOSSES: list[tuple[str, Damage, str, int, str, Damage | None]] = [
    # damage; file and byte, and what is said; the way on that is said
    (
        "the last segment",
        both(remove(segment(35)), indexes(35)),
        segment(28),
        7 * SIZE,
        "the log ends at offset 35, but leader-epoch-checkpoint knows of epoch 3 from offset 37 on",
        remove(CHECKPOINT),
    ),
    (
        "the last segment, whose indexes are left",
        both(remove(segment(35)), remove(CHECKPOINT)),
        segment(28),
        7 * SIZE,
        f"the log ends at offset 35, but {segment(35, 'index')} knows of {segment(35)}",
        indexes(35),
    ),
    (
        "all of the last segment's bytes",
        both(cut(segment(35), 0), remove(CHECKPOINT)),
        segment(35),
        0,
        f"the log ends at offset 35, but {segment(35, 'timeindex')} knows of offset 39",
        indexes(35),
    ),
    (
        "the last batch",
        cut(segment(35), 4 * SIZE),
        segment(35),
        4 * SIZE,
        f"the log ends at offset 39, but {segment(35, 'timeindex')} knows of offset 39",
        indexes(35),
    ),
    (
        "the last epoch",
        both(cut(segment(35), 2 * SIZE), indexes(35)),
        segment(35),
        2 * SIZE,
        "the log ends at offset 37, but leader-epoch-checkpoint knows of epoch 3 from offset 37 on",
        remove(CHECKPOINT),
    ),
    (
        "a segment in the middle",
        both(remove(segment(21)), indexes(21)),
        segment(28),
        0,
        "begins at 28, the segment before it ends at 21",
        both(remove(segment(28), segment(35), CHECKPOINT), indexes(28), indexes(35)),
    ),
    (
        "the first segments",
        both(remove(*map(segment, BASES[:5])), *map(indexes, BASES[:5]), remove(SNAPSHOT_FILE)),
        segment(35),
        0,
        "the log begins at 35 without a snapshot",
        None,
    ),
    (
        "all segments",
        both(remove(*ALL_SEGMENTS, SNAPSHOT_FILE), ONLY_EPOCHS),
        segment(0),
        0,
        "is not there, but leader-epoch-checkpoint knows of epoch 3 from offset 37 on",
        remove(CHECKPOINT),
    ),
    (
        "all segments, with a snapshot",
        both(remove(*ALL_SEGMENTS), ONLY_EPOCHS),
        segment(0),
        0,
        "is not there, but leader-epoch-checkpoint knows of epoch 3 from offset 37 on",
        remove(CHECKPOINT),
    ),
    (
        "the votes",
        remove(QUORUM_STATE),
        QUORUM_STATE,
        0,
        "is not there, but the log has epoch 3",
        votes(4),
    ),
    (
        "the later votes",
        votes(2),
        QUORUM_STATE,
        0,
        "has epoch 2, but the log has epoch 3",
        votes(4),
    ),
    (
        "every later epoch",
        votes((1 << 31) - 1),
        QUORUM_STATE,
        0,
        "epoch 2147483647 is the last there is",
        votes(3),
    ),
    (
        "the right epochs",
        write_to(CHECKPOINT, b"0\n3\n1 0\n2 19\n3 37\n"),
        CHECKPOINT,
        0,
        "has epoch 2 from offset 19 on, where the log has epoch 1",
        remove(CHECKPOINT),
    ),
    (
        "a part of the snapshot",
        cut(SNAPSHOT_FILE, 150),
        SNAPSHOT_FILE,
        83,
        "the snapshot ends without its footer",
        remove(SNAPSHOT_FILE),
    ),
    (
        "the right snapshot",
        lambda fs: fs.rename(
            FOLDER / SNAPSHOT_FILE, FOLDER / SNAPSHOT_FILE.replace("2.ch", "1.ch")
        ),
        SNAPSHOT_FILE.replace("2.ch", "1.ch"),
        0,
        "is a snapshot of epoch 2, its name says 1",
        remove(SNAPSHOT_FILE.replace("2.ch", "1.ch")),
    ),
    (
        "the end of the snapshot, which is there twice",
        write_to(SNAPSHOT_FILE, 2 * WHOLE),
        SNAPSHOT_FILE,
        len(WHOLE),
        "more follows the snapshot's footer; .*; to go on without this snapshot, remove it",
        remove(SNAPSHOT_FILE),
    ),
    (
        "a batch of the snapshot",
        write_to(SNAPSHOT_FILE, WHOLE_BATCHES[0] + WHOLE_BATCHES[2]),
        SNAPSHOT_FILE,
        len(WHOLE_BATCHES[0]),
        "offset 2 where 1 should be",
        remove(SNAPSHOT_FILE),
    ),
    (
        "the ids of the votes",
        write_to(QUORUM_STATE, votes_of(epoch=3, leader=-7)),
        QUORUM_STATE,
        0,
        "leaderId is -7, below -1, but the log has epoch 3: this controller could vote twice",
        votes(4),
    ),
    (
        "a part of the votes",
        write_to(QUORUM_STATE, b'{"leaderId":'),
        QUORUM_STATE,
        0,
        "not JSON: .*: this controller could vote twice in an epoch",
        votes(4),
    ),
    (
        "a part of the epochs",
        write_to(CHECKPOINT, b"0\n3\n1 0\n"),
        CHECKPOINT,
        0,
        "not version 0, a count and that many lines; restore it, or remove it",
        remove(CHECKPOINT),
    ),
    (
        "the right log, of which the snapshot is",
        lambda fs: fs.rename(FOLDER / SNAPSHOT_FILE, FOLDER / SNAPSHOT_FILE.replace("30-", "50-")),
        SNAPSHOT_FILE.replace("30-", "50-"),
        0,
        "ends in epoch 2, where the log has epoch 3",
        remove(SNAPSHOT_FILE.replace("30-", "50-")),
    ),
    (
        "the right topic",
        write_to("partition.metadata", b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAFg"),
        "partition.metadata",
        0,
        "not of the metadata",
        remove("partition.metadata"),
    ),
]


@pytest.mark.parametrize(
    ("damage", "file", "byte", "reason", "way_on"),
    [row[1:] for row in LOSSES],
    ids=[row[0] for row in LOSSES],
)
def test_what_was_lost_is_told_with_file_and_byte_and_a_way_on(
    damage: Damage, file: str, byte: int, reason: str, way_on: Damage | None
) -> None:
    fs = a_long_log()
    damage(fs)
    before = contents(fs)

    with pytest.raises(FileError, match=f"{reason}") as error:
        open_with_votes(fs)

    assert (error.value.file, error.value.offset) == (FOLDER / file, byte)
    assert contents(fs) == before
    assert contradiction(fs, FOLDER) == str(error.value)
    if way_on is not None:
        way_on(fs)
        open_with_votes(fs).close()
        assert contradiction(fs, FOLDER) is None


def open_with_votes(fs: MemoryFileSystem) -> MetadataLog:
    def check(recovered: RecoveredLog) -> None:
        check_quorum_state(fs, recovered)

    return MetadataLog.open(FOLDER, fs, SMALL, check)


def test_a_whole_log_contradicts_nothing() -> None:
    fs = a_long_log()
    assert contradiction(fs, FOLDER) is None
    # An index that Kafka was about to remove with its segment.
    fs.replace_file(FOLDER / segment(99, "index"), b"")
    fs.replace_file(FOLDER / segment(99, "log.deleted"), b"")
    assert contradiction(fs, FOLDER) is None


def test_the_line_that_is_given_for_a_lost_vote_can_be_written(fs: MemoryFileSystem) -> None:
    with pytest.raises(FileError) as error:
        open_with_votes(fs)
    write_to(QUORUM_STATE, str(error.value).partition("write to it ")[2].encode())(fs)
    open_with_votes(fs).close()


def test_a_control_record_that_cannot_be_read_is_told_when_the_log_is_opened(
    fs: MemoryFileSystem,
) -> None:
    broken = Record(key=b"\x00\x00\x00\x06", value=b"\x00\x00\xff", timestamp=1)
    added = build_batch([broken], base_offset=10, partition_leader_epoch=1, is_control=True)
    change(fs, SEGMENT, lambda data: data + added)
    with pytest.raises(FileError, match=f"{SEGMENT.name}, byte {10 * SIZE}: a control record"):
        MetadataLog.open(FOLDER, fs)
