"""The facts are those that Kafka itself prints: its protocol guide and its own tables."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

import real_kafka
import vectors
from kwire.codec.versions import Versions
from kwire.protocol import facts
from kwire.protocol.document import facts_text
from kwire.protocol.release_facts import messages_of
from kwire.protocol.row_comparison import default_text
from protocol_facts.__main__ import FACTS, ROOT
from protocol_facts.gather import RELEASES, gathered
from tests.support.protocol.guide import layout, layouts_of_guide

pytestmark = pytest.mark.java


def printed(release: str, main: str, *arguments: str) -> str:
    """Return what a main class of Kafka prints."""
    jars = os.pathsep.join(map(str, real_kafka.class_path(release)))
    command = [str(real_kafka.java()), "-cp", jars, main, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def test_the_committed_facts_are_those_of_the_jars() -> None:
    assert (ROOT / FACTS).read_text() == facts_text(gathered())


def test_every_version_of_every_api_is_laid_out_as_in_kafkas_protocol_guide() -> None:
    page = printed("4.4.0", "org.apache.kafka.common.protocol.Protocol")
    guide = layouts_of_guide(page)
    ours = {}
    for fact in messages_of("4.4.0").values():
        for version in fact.version_set if fact.is_rpc else ():
            text = layout(fact, version)
            ours[text.partition(" =>")[0]] = text
    assert len(guide) > 500
    assert {name: ours.get(name) for name in guide} == guide


@pytest.mark.parametrize("release", RELEASES)
def test_error_codes_are_those_of_kafkas_table(release: str) -> None:
    page = printed(release, "org.apache.kafka.common.protocol.Errors")
    row = r"<tr><td>(\w+)</td><td>(-?\d+)</td><td>(True|False)</td>"
    table = {(name, int(code), retriable) for name, code, retriable in re.findall(row, page)}
    ours = {
        (error.name, error.code, str(error.retriable))
        for error in facts().errors
        if release in error.releases
    }
    assert ours == table


@pytest.mark.parametrize("release", real_kafka.VERSIONS)
def test_api_keys_are_those_of_kafkas_class(release: str) -> None:
    """ApiKeys and ApiMessageType know keys, versions and listeners."""
    kafka = {
        row["key"]: (
            row["lowest_version"],
            row["highest_version"],
            row["listeners"],
            row["latest_stable_version"] < row["highest_version"],
        )
        for row in vectors.facts(release)["api_keys"]
    }
    ours = {
        fact.key: (
            fact.version_set.first,
            fact.version_set.last,
            sorted(name.lower().replace("zkb", "zk_b") for name in fact.listeners),
            fact.unstable,
        )
        for fact in messages_of(release).values()
        if fact.kind == "request"
    }
    assert ours == kafka


MAINS = {
    "topic": "org.apache.kafka.storage.internals.log.LogConfig",
    "producer": "org.apache.kafka.clients.producer.ProducerConfig",
}


@pytest.mark.parametrize("owner", MAINS)
@pytest.mark.parametrize("release", ["3.6.2", "4.4.0"])
def test_configurations_are_those_of_kafkas_documentation(release: str, owner: str) -> None:
    page = printed(release, MAINS[owner])
    documented = {}
    for part in page.split("<h4>")[1:]:
        name = re.findall(r'<a id="([\w.]+)"', part)[0]
        cells = dict(re.findall(r"<th>(\w[\w ]*):</th><td>(.*?)</td>", part))
        documented[name] = (cells["Type"], cells.get("Importance"), cells.get("Default"))
    ours = {
        config.name: config
        for config in facts().configs
        if config.owner == owner and release in config.releases and not config.internal
    }
    assert ours.keys() == documented.keys()
    for name, (kind, importance, default) in documented.items():
        assert (ours[name].type, ours[name].importance) == (kind, importance), name
        # Numbers have their unit behind them: 604800000 (7 days).
        kafka = re.sub(r" \(.*\)$", "", default or "")
        assert kafka == ("" if ours[name].required else default_text(ours[name].default)), name


def test_levels_that_a_release_begins_with_are_those_of_kafka_features() -> None:
    """`kafka-features version-mapping` prints the levels of a new cluster of 4.3."""
    command = ("version-mapping", "--release-version", "4.3-IV0")
    main = "org.apache.kafka.tools.FeatureCommand"
    text = printed("4.3.1", main, "--bootstrap-server", "localhost:1", *command)
    mapping = {name: int(level) for name, level in re.findall(r"([\w.]+)=(\d+)", text)}
    levels = [level for level in facts().features if "4.3.1" in level.releases]
    numbers = {level.name: level.level for level in levels if level.name}
    begun = numbers["4.3-IV0"]
    ours = {
        level.feature: level.level
        for level in levels
        if level.production and numbers.get(level.since or level.name or "", 0) <= begun
    }
    assert ours == mapping


def test_every_version_is_a_set_that_the_codec_reads() -> None:
    for fact in facts().messages:
        assert str(Versions(fact.versions)) == fact.versions
