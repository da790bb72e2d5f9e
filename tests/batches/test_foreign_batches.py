"""Odd batches of other writers are read as Kafka 4.3.1's MemoryRecords reads them."""

import re

import cramjam
import pytest

from kwire.batches import Limit, read_batches
from kwire.batches.compression import LIMIT_IN_USE, Compression, compress, decompress
from kwire.errors import BatchError, TooLarge
from tests.support.paths import FIXTURES

BATCHES = FIXTURES / "batches"


def rows(name: str) -> dict[str, str]:
    lines = (line.partition(" ") for line in (BATCHES / name).read_text().splitlines())
    return {case: text for case, _, text in lines}


CASES, JUDGED = rows("foreign.txt"), rows("kafka-4.3.1.txt")


def size(value: bytes | None) -> int:
    return -1 if value is None else len(value)


def read(data: bytes) -> tuple[list[str], bool]:
    """Return the records as `offset@time:key/value`, and whether all of the bytes are read."""
    records: list[str] = []
    try:
        for batch in read_batches(data):
            for record in batch.records():
                what = f"{size(record.key)}/{size(record.value)}"
                records.append(f"{record.offset}@{record.timestamp}:{what}")
    except BatchError:
        return records, False
    return records, True


@pytest.mark.parametrize("name", CASES)
def test_kafka_reads_the_same(name: str) -> None:
    judged = JUDGED[name]
    trusting = LIMIT_IN_USE.set(Limit(free=4 << 20))
    try:
        records, whole = read(bytes.fromhex(CASES[name]))
    finally:
        LIMIT_IN_USE.reset(trusting)
    assert records == re.findall(r"-?\d+@-?\d+:-?\d+/-?\d+", judged)
    assert whole == ("ERR" not in judged)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (Limit(), "unpacks to more than 1048576 bytes"),
        (
            Limit.by_size(2, "--unpack-limit"),
            "unpacks to more than 2097152 bytes; if you trust the sender, --unpack-limit 4 allows"
            " more",
        ),
    ],
)
def test_a_batch_that_shrank_a_thousandfold_needs_leave(limit: Limit, said: str) -> None:
    (batch,) = read_batches(bytes.fromhex(CASES["gzip-3MB-zeros"]))
    with pytest.raises(TooLarge) as raised:
        list(batch.records(limit))
    assert str(raised.value).endswith(said)
    assert list(batch.records(Limit.by_size(3, "")))


GZIP = bytes(cramjam.gzip.compress(b"first"))
TWO = compress(b"first", Compression.LZ4), compress(b"second", Compression.LZ4)


@pytest.mark.parametrize(
    ("behind", "read"),
    [
        (b"", b"first"),
        (bytes(100), b"first"),
        (b"\x1f\x8b\x09" + bytes(100), b"first"),
        (b"\x1f\x8b", b"first"),
        (bytes(cramjam.gzip.compress(b"second")), b"firstsecond"),
        (bytes(cramjam.gzip.compress(b"")) * 2 + bytes(40), b"first"),
    ],
)
def test_behind_a_gzip_member_is_another_or_nothing(behind: bytes, read: bytes) -> None:
    """GZIPInputStream.readTrailer."""
    assert decompress(GZIP + behind, Compression.GZIP) == read


def test_a_gzip_member_that_is_cut_off_or_broken_is_no_end() -> None:
    for broken in (GZIP[:-1], GZIP[:12], GZIP + GZIP[:-1], GZIP[:-5] + b"\x00" + GZIP[-4:]):
        with pytest.raises(BatchError, match="gzip: "):
            decompress(broken, Compression.GZIP)


def test_of_lz4_the_first_frame_is_read() -> None:
    """Lz4BlockInputStream ends with it; records of a second one are missing then."""
    assert decompress(b"".join(TWO), Compression.LZ4) == b"first"
    assert decompress(TWO[0] + b"garbage", Compression.LZ4) == b"first"
