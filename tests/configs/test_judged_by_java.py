"""Random configurations, judged by Kafka's own validator and by kwire: code and message agree."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

import vectors
from config_keys.judged import VALUES
from kwire.configs.java_regex import is_java_regex
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


PIECES = (
    *"ab1()[]{}?*+|.^$\\&-:!<>#' ",
    *("\\p{L}", "\\pL", "\\P{IsLatin}", "\\p{Foo}", "\\p{InGreek}", "\\p{javaLowerCase}", "\\p"),
    *("\\Q", "\\E", "(?", "(?:", "(?<", "(?<n>", "(?<!", "(?!", "(?>", "(?i)", "(?i-s:", "(?-"),
    *("\\1", "\\9", "\\k<n>", "\\k<", "\\x41", "\\x{41}", "\\x{110000}", "\\x", "\\u0041", "\\u"),
    *("\\0", "\\07", "\\cA", "\\c", "\\N{LATIN SMALL LETTER A}", "\\N", "\\b{g}", "\\b{", "\\G"),
    *("\\R", "\\X", "\\h", "\\v", "\\d", "\\e", "\\y", "\\i", "{1}", "{2}{3}", "{9999999999}"),
    *("{1", "*+", "??", "&&", "[a-z]", "[^", "[]]", "[^]]", "[a&&", "[a&&[b]]", "z-a", "é", "\n"),
)


BEHIND = (
    *("a", "b", ".", "\\d", "\\p{L}", "[a-z]", "\\b", "^", "$", "\\R", "\\X", "\\1"),
    *("|", "a*", "b+", "(", "(?:", "(?>", "(?!", "(?<n>", "(?i:", *[")"] * 5),
    *("*", "+", "?", "*?", "*+", "+?", "++", "??", "?+", "{1}", "{2}", "{2}?", "{70000}"),
)
"""Of look-behinds, whose longest text Java computes."""


def test_random_patterns_are_those_that_java_compiles(kafka: vectors.ConfigJudge) -> None:
    random = Random(SEED)
    verdicts = {True: 0, False: 0}
    for number in range(16000):
        if number % 2:
            pattern = look_behind(random)
        else:
            count = random.randint(1, random.choice((2, 4, 8)))
            pattern = "".join(random.choice(PIECES) for _ in range(count)).strip()
        if pattern:
            theirs = kafka("CLIENT_METRICS", "n", {"match": f"client_id={pattern}"}).code == 0
            assert is_java_regex(pattern) == theirs, (SEED, pattern)
            verdicts[theirs] += 1
    assert min(verdicts.values()) > 4000


def look_behind(random: Random) -> str:
    pattern = "(?<!" + "".join(random.choice(BEHIND) for _ in range(random.randint(1, 9)))
    return pattern + ")" * max(1, pattern.count("(") - pattern.count(")"))
