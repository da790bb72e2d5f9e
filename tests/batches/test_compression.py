"""The framings of Kafka's codecs, and the claims in them that are not believed."""

import resource
import subprocess
import sys

import cramjam
import pytest

from kwire.batches.compression import XERIAL, Compression, Limit, compress, decompress
from kwire.errors import BatchError, TooLarge

TEXT = b"the quick brown fox " * 5_000


def test_snappy_is_framed_as_snappy_java_frames_it() -> None:
    packed = compress(TEXT, Compression.SNAPPY)
    assert packed.startswith(XERIAL + bytes([0, 0, 0, 1, 0, 0, 0, 1]))
    assert decompress(packed, Compression.SNAPPY) == TEXT


def test_bare_snappy_of_other_clients_and_several_xerial_streams_are_read() -> None:
    assert decompress(bytes(cramjam.snappy.compress_raw(TEXT)), Compression.SNAPPY) == TEXT
    two = compress(b"a", Compression.SNAPPY) + compress(b"b", Compression.SNAPPY)
    assert decompress(two, Compression.SNAPPY) == b"ab"


def test_lz4_of_format_0_has_the_checksum_that_kafka_computed_wrongly() -> None:
    right, wrong = (compress(b"abc", Compression.LZ4, magic=magic) for magic in (1, 0))
    assert wrong[:6] + wrong[7:] == right[:6] + right[7:]
    assert wrong[6] != right[6]
    assert decompress(wrong, Compression.LZ4, magic=0) == b"abc"
    with pytest.raises(BatchError):
        decompress(wrong, Compression.LZ4, magic=1)


def test_lz4_blocks_that_depend_on_each_other_are_refused_as_kafka_does() -> None:
    with pytest.raises(BatchError, match="depend on each other"):
        decompress(bytes(cramjam.lz4.compress(TEXT)), Compression.LZ4)


GARBAGE = (
    b"",
    b"x",
    bytes(30),
    XERIAL,
    XERIAL + bytes(8) + b"\x7f\xff\xff\xff",
    b"\x04\x22\x4d\x18",
)


@pytest.mark.parametrize("compression", list(Compression)[1:])
def test_garbage_has_one_type_of_error(compression: Compression, subtests: pytest.Subtests) -> None:
    for data in GARBAGE:
        with subtests.test(data=data):
            try:
                assert decompress(data, compression) == b""
            except BatchError:
                continue
            assert data.startswith(XERIAL)


def test_a_snappy_block_that_claims_two_gigabytes_is_not_believed() -> None:
    claim = b"\xff\xff\xff\xff\x07"
    with pytest.raises(TooLarge):
        decompress(claim + b"aa", Compression.SNAPPY)
    framed = XERIAL + bytes([0, 0, 0, 1, 0, 0, 0, 1]) + bytes([0, 0, 0, 7]) + claim + b"aa"
    with pytest.raises(TooLarge):
        decompress(framed, Compression.SNAPPY)


def test_a_zstd_frame_that_declares_two_gigabytes_takes_no_memory() -> None:
    """Descriptor E0: an 8-byte content size and a single segment, a window of that size."""
    frame = b"\x28\xb5\x2f\xfd\xe0" + (2 << 30).to_bytes(8, "little") + b"\x01\x00\x00"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BatchError):
        decompress(frame, Compression.ZSTD)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024


def test_the_limit_is_exact() -> None:
    limit = Limit(size=1_000, ratio=1, free=1_000)
    for compression in list(Compression)[1:]:
        assert decompress(compress(bytes(1_000), compression), compression, limit=limit)
        with pytest.raises(TooLarge):
            decompress(compress(bytes(1_001), compression), compression, limit=limit)


@pytest.mark.parametrize("compression", ["GZIP", "SNAPPY", "LZ4", "ZSTD"])
def test_refusing_a_bomb_takes_no_more_memory_than_the_limit(compression: str) -> None:
    """In a process of its own: the 500 MB are packed by one and refused by another."""
    packed = compress(bytes(500_000_000), Compression[compression])
    code = (
        "import resource, sys\n"
        "from kwire.batches.compression import *\n"
        "from kwire.errors import TooLarge\n"
        "packed = sys.stdin.buffer.read()\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: decompress(packed, int(sys.argv[1]), limit=Limit(ratio=10**6))\n"
        "except TooLarge: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    arguments = [sys.executable, "-c", code, str(int(Compression[compression]))]
    done = subprocess.run(arguments, input=packed, capture_output=True, check=True, timeout=60)
    assert int(done.stdout) < (64 + 16) * 1024
