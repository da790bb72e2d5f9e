"""The order of Java's HashSets; every expected one was printed by Java 17."""

import pytest

from kwire.controller.replicas.java_hash_set import text_bucket

THIRTY_AND_MORE = (
    6, 7, 8, 9, 0, 1, 30, 2, 31, 3, 10, 32, 4, 11, 33, 5, 12, 34, 24, 25, 26, 27, 28, 29, 20, 21,
    22, 23, 13, 35, 14, 36, 15, 37, 16, 38, 17, 39, 18, 19,
)  # fmt: skip


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ("grow-3-a grow-3-b grow-3-c", "grow-3-c grow-3-b grow-3-a"),
        (
            "b a orders payments __consumer_offsets AaAa BBBB AaBB",
            "a b payments orders __consumer_offsets AaAa BBBB AaBB",
        ),
        ("größe 日本 😀 x", "größe 😀 x 日本"),
        (
            " ".join(f"topic-{number}" for number in range(40)),
            " ".join(f"topic-{number}" for number in THIRTY_AND_MORE),
        ),
    ],
)
def test_names_come_as_from_a_hash_set(added: str, expected: str) -> None:
    names = added.split()
    ordered = sorted(names, key=lambda name: text_bucket(name, len(names)))
    assert ordered == expected.split()
