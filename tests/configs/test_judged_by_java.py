"""Random configurations, judged by Kafka's own validator and by kwire: code and message agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

import vectors
from config_keys.judged import VALUES
from kwire.configs.java_regex import is_java_regex
from tests.support.configs.patterns import AGREED, DIFFERENT
from tests.support.configs.verdicts import KEYS, judge
from tests.support.seed import SEED

pytestmark = pytest.mark.java

MORE_VALUES = (
    *(
        "٣",
        "\uff19",
        "+5",
        "++5",
        "-",
        "fal\u017fe",
        "-0.0",
        "NaN",
        "nan",
        "1d",
        "0x.8p1F",
        "9" * 5000,
    ),
    *("9007199254740993", "1234567890.5", "1e-5", "delete , compact", "0:1 , 1:2", "**", "٣:1"),
    *("by_duration:pt5s", "by_duration:PT", "by_duration:P1DT", "by_duration:PT.5S", "LATEST"),
    *("by_duration:PT-0.5S", "by_duration:P99999999999999D", "by_duration:P999999999999999D"),
    *("client_id=a=", "client_id==a", "=a", "client_id = .* ", "client_id=a,client_id=(a"),
    *("6000", "5000", "5001", "60000", "60001", "3600000", "3600001", "99", "\x00", "\u00a05"),
)
REMOTE = (
    *("remote.storage.enable", "remote.log.copy.disable", "remote.log.delete.on.disable"),
    *("local.retention.ms", "local.retention.bytes", "retention.ms", "retention.bytes"),
    *("cleanup.policy", "min.compaction.lag.ms", "max.compaction.lag.ms"),
)
STATIC: dict[str, tuple[dict[str, str], ...]] = {
    "TOPIC": ({}, {"remote.log.storage.system.enable": "true"}),
    "GROUP": (
        {},
        {
            "group.consumer.min.session.timeout.ms": "1000",
            "group.consumer.session.timeout.ms": "6000",
            "group.streams.max.standby.replicas": "7",
            "group.share.max.delivery.count.limit": "20",
        },
    ),
    "CLIENT_METRICS": ({},),
}


@pytest.fixture(scope="module")
def kafka() -> Iterator[vectors.ConfigJudge]:
    """Kafka's validator in a process of its own."""
    with vectors.ConfigJudge("4.3.1") as judge:
        yield judge


def remote(random: Random) -> dict[str, str]:
    """Some of the keys that depend on each other."""
    choices = {
        **dict.fromkeys(REMOTE, ("-2", "-1", "0", "1", "5", "604800000")),
        **dict.fromkeys(REMOTE[:3], ("true", "false")),
        "cleanup.policy": ("", "delete", "compact", "compact,delete"),
    }
    return {
        name: random.choice(choices[name]) for name in random.sample(REMOTE, random.randint(1, 7))
    }


def test_random_configurations_are_judged_alike(kafka: vectors.ConfigJudge) -> None:
    random = Random(SEED)
    values = VALUES + MORE_VALUES
    for _ in range(8000):
        type = random.choice(list(KEYS))
        names = list(KEYS[type])
        new = {random.choice(names): random.choice(values) for _ in range(random.randint(1, 3))}
        old: dict[str, str] = {}
        if type == "TOPIC" and random.random() < 0.6:
            new = remote(random)
            old = {"remote.storage.enable": random.choice(("true", "false", "TRUE", " true"))}
        static = random.choice(STATIC[type])
        theirs = kafka(type, "n", new, old, static)
        assert judge(type, new, old, static) == theirs, (SEED, type, new, old, static)


def test_patterns_are_judged_as_the_table_says(kafka: vectors.ConfigJudge) -> None:
    for pattern, by_java in [*AGREED, *((pattern, java) for pattern, java, _ in DIFFERENT)]:
        verdict = kafka("CLIENT_METRICS", "n", {"match": f"client_id={pattern}"})
        assert (verdict.code == 0) == by_java, pattern


PIECES = (
    *"ab1()[]?*+|.^$\\-:_/ ",
    *("\\d", "\\w", "\\s", "\\.", "\\-", "[a-z]", "[^.]", "[A-Za-z0-9_.-]", "(?i)", "(?:", "{2}"),
    *("{2", "\\p{L}", "\\Q", "\\E", "(?!", "(?<!", "(?<n>", ".*", ".+", "é", "\\h"),
)


def test_most_random_patterns_are_judged_alike(kafka: vectors.ConfigJudge) -> None:
    """A pattern that is only accepted here makes a broker log an error, and nothing worse."""
    random = Random(SEED)
    verdicts: Counter[tuple[bool, bool]] = Counter()
    while verdicts.total() < 4000:
        count = random.randint(1, random.choice((2, 4, 8)))
        pattern = "".join(random.choice(PIECES) for _ in range(count)).strip()
        if pattern:
            by_java = kafka("CLIENT_METRICS", "n", {"match": f"client_id={pattern}"}).code == 0
            verdicts[by_java, is_java_regex(pattern)] += 1
    assert verdicts[False, True] < 60, (SEED, verdicts)
    assert verdicts[True, False] < 400, (SEED, verdicts)
    assert min(verdicts[True, True], verdicts[False, False]) > 1000, (SEED, verdicts)
