"""A Streams application and a share group go on while the active controller is killed.

The same run on a quorum of Kafka's gives the same records, the same topics, and the same
descriptions by Kafka's tools.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from real_kafka import Launcher
from tests.support.controller.live.application_cluster import java_cluster, kwire_cluster
from tests.support.controller.live.share_group import NUMBERS, settle_numbers, settlements
from tests.support.controller.live.tool_descriptions import different
from tests.support.controller.live.word_count import LINES, count_words

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("protocol", ["classic", "streams"])
def test_a_streams_application_counts_every_word_exactly_once(
    kafka: Launcher, tmp_path: Path, protocol: str
) -> None:
    with kwire_cluster(kafka, tmp_path) as cluster:
        ours = count_words(cluster, protocol, tmp_path / "ours")
    words = Counter(word for line in LINES for word in line.split())
    assert ours.counts == {word: list(range(1, count + 1)) for word, count in words.items()}
    with java_cluster(kafka) as cluster:
        theirs = count_words(cluster, protocol, tmp_path / "theirs")
    assert ours.counts == theirs.counts
    assert different(ours.descriptions, theirs.descriptions) == {}


@pytest.mark.parametrize(  # share.version 1 and 2
    "version", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)]
)
def test_a_share_group_settles_every_number_once(
    kafka: Launcher, tmp_path: Path, version: str
) -> None:
    with kwire_cluster(kafka, tmp_path, version) as cluster:
        ours = settle_numbers(cluster, tmp_path / "ours.log")
    assert sorted(ours.settled) == sorted(settlements(NUMBERS))
    with java_cluster(kafka, version) as cluster:
        theirs = settle_numbers(cluster, tmp_path / "theirs.log")
    assert sorted(ours.settled) == sorted(theirs.settled)
    assert different(ours.descriptions, theirs.descriptions) == {}
