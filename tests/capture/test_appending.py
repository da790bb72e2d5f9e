"""Bytes are copied and summed in one go, in C or in Python."""

from random import Random

from crc32c import crc32c

from kwire.capture.appending import _copy_and_sum
from tests.support.capture.native import attack
from tests.support.seed import SEED


def test_what_is_copied_is_summed() -> None:
    assert attack.summed(SEED, 500) == 500


def test_python_sums_what_it_copies() -> None:
    data = Random(SEED).randbytes(600_000)
    room = bytearray(len(data))
    assert _copy_and_sum(memoryview(room), memoryview(data), 7) == crc32c(data, 7)
    assert room == data
