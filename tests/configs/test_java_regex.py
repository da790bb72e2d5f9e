"""The patterns of client metrics: those of the table are taken, those that are none are refused.

`test_judged_by_java` asks Java about the same table.
"""

import gc
import time

import pytest

from kwire.configs.java_regex import is_java_regex
from tests.support.configs.patterns import AGREED, DIFFERENT


@pytest.mark.parametrize(
    ("pattern", "is_taken"), [*AGREED, *((pattern, taken) for pattern, _, taken in DIFFERENT)]
)
def test_a_pattern_is_taken_or_refused(pattern: str, is_taken: bool) -> None:
    assert is_java_regex(pattern) == is_taken


@pytest.mark.parametrize("piece", ["[", "(", "\\Q", "\\p{", "(?", "[a", "(?i", "{", "(?<n", "a|"])
def test_the_longest_value_costs_little(piece: str) -> None:
    gc.disable()  # the heap of all other tests is not what is measured
    try:
        started = time.thread_time()
        is_java_regex(piece * (32_767 // len(piece)))
        assert time.thread_time() - started < 1
    finally:
        gc.enable()
