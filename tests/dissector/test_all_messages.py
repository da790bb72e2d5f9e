"""tshark shows every field of every message with the value that kwire reads.

The messages are Kafka's own (`fixtures/vectors`). Longer: KWIRE_INSTANCES=100 KWIRE_SEED=<number>.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest

import kwire
import vectors
from engines import REDEFINED
from kwire.batches import Record, build_batch
from kwire.dissector.proto_fields import snake
from kwire.messages import registry
from kwire.messages.metadata_topic import METADATA_TOPIC
from tests.support.dissector.packets import Exchange, fetched, write_exchanges
from tests.support.dissector.trees import differences, roots
from tests.support.dissector.tshark import Tshark
from tests.support.seed import SEED
from vectors import Vector

pytestmark = pytest.mark.java

RELEASES = ("4.4.0", "3.9.1")
"""The second one has the requests between controllers and brokers that Kafka 4 no longer has."""

REMOTE_LOG = ("RemoteLog", "RemotePartition")
"""Records of a topic that is not Kafka's protocol between nodes: kwire's messages have them."""

INSTANCES = int(os.environ.get("KWIRE_INSTANCES", vectors.INSTANCES))
PROFILES = {"NULLS", "SANE", "RANDOM"}
"""The profiles of a short run; large arrays and strings belong to the long one."""

PAIRS = {"4.4.0": 309, "3.9.1": 323}
"""(API, version) pairs of a release."""

UNSUPPORTED_VERSION = (35).to_bytes(2, "big")

IS_LONG = INSTANCES > vectors.INSTANCES
AT_ONCE = 200 if IS_LONG else 1000
"""Exchanges in one file: what tshark prints of them is read into memory."""


def chosen(release: str, *kinds: str) -> Iterator[Vector]:
    seen: dict[tuple[str, int, str], int] = defaultdict(int)
    for vector in vectors.messages(release, seed=SEED, instances=INSTANCES):
        if vector.name == "ApiVersionsResponse" and vector.data.startswith(UNSUPPORTED_VERSION):
            continue  # read as v0, whatever was asked for (KIP-511)
        key = (vector.name, vector.version, vector.profile)
        if vector.kind.startswith(kinds) and (IS_LONG or vector.profile in PROFILES):
            seen[key] += 1
            # Of random ones the first few: a release has 20 instances of every pair.
            if seen[key] <= (INSTANCES if IS_LONG else 1):
                yield vector


def exchanges(release: str) -> Iterator[tuple[Exchange, Vector, Vector]]:
    """Pair the instances of each API and version."""
    requests: dict[tuple[int, int], list[Vector]] = defaultdict(list)
    for vector in chosen(release, "request", "response"):
        key = kwire.message(vector.name).key
        assert key is not None
        if vector.kind.startswith("request"):
            requests[key, vector.version].append(vector)
            continue
        request = requests[key, vector.version].pop(0)
        exchange = Exchange(
            key=key, version=vector.version, request=request.data, response=vector.data
        )
        yield exchange, request, vector


@pytest.mark.parametrize("release", RELEASES)
def test_every_field_of_requests_and_responses_is_shown(
    tshark: Tshark, tmp_path: Path, release: str
) -> None:
    pairs = list(exchanges(release))
    assert len({(exchange.key, exchange.version) for exchange, _, _ in pairs}) == PAIRS[release]
    wrong: dict[str, list[str]] = {}
    path = tmp_path / "pairs.pcapng"
    for start in range(0, len(pairs), AT_ONCE):
        part = pairs[start : start + AT_ONCE]
        write_exchanges(path, (exchange for exchange, _, _ in part))
        frames = list(tshark.frames(path, "-J", "kwire"))
        messages = list(chain.from_iterable(both for _, *both in part))
        for vector, frame in zip(messages, frames, strict=True):
            is_redefined = (release, vector.name, vector.version) in REDEFINED
            if not is_redefined and (found := list(unequal(vector, frame))):
                wrong[f"{vector.name} v{vector.version} {vector.profile}"] = found
    assert not wrong, f"seed {SEED}"


def unequal(vector: Vector, frame: Element) -> Iterator[str]:
    key = kwire.message(vector.name).key
    assert key is not None
    kind, _, _ = vector.kind.partition("/")
    # Kafka 4.1 renamed an API: the newer name reads both.
    cls = registry.request(key) if kind == "request" else registry.response(key)
    (root,) = roots(frame, f"kafka.{snake(registry.api_name(key))}.{kind}")
    yield from differences(as_json(cls, vector), root)


def as_json(cls: type[kwire.Message], vector: Vector) -> dict[str, Any]:
    return kwire.to_json(cls.decode(vector.data, vector.version), vector.version)


def record_of(vector: Vector) -> Record:
    """Return a record of the log in which the message stands, as Kafka writes it there."""
    cls = kwire.message(vector.name)
    assert cls.key is not None
    if vector.kind.startswith("metadata"):
        return Record(value=vector.frame)
    if vector.kind.startswith("coordinator-key"):
        return Record(key=cls.key.to_bytes(2, "big") + vector.data, value=None)
    key = cls.key.to_bytes(2, "big")
    return Record(key=key, value=vector.version.to_bytes(2, "big") + vector.data)


def topic_of(vector: Vector) -> str:
    if vector.kind.startswith("metadata"):
        return METADATA_TOPIC
    if vector.name.startswith("TransactionLog"):
        return "__transaction_state"
    return "__share_group_state" if "share-coordinator" in vector.kind else "__consumer_offsets"


@pytest.mark.parametrize("release", RELEASES)
def test_every_field_of_records_in_fetch_responses_is_shown(
    tshark: Tshark, tmp_path: Path, release: str
) -> None:
    found = [
        vector
        for vector in chosen(release, "metadata", "coordinator")
        if (release, vector.name, vector.version) not in REDEFINED
        and not vector.name.startswith(REMOTE_LOG)
    ]
    by_topic: dict[str, list[Vector]] = defaultdict(list)
    for vector in found:
        by_topic[topic_of(vector)].append(vector)
    wrong: dict[str, list[str]] = {}
    path = tmp_path / "records.pcapng"
    for topic, chosen_vectors in by_topic.items():
        write_exchanges(path, [fetched(topic, build_batch(map(record_of, chosen_vectors)))])
        _, frame = tshark.frames(path, "-J", "kwire")
        for vector, record in zip(chosen_vectors, roots(frame, "kafka.record"), strict=True):
            shown = roots(record, f"kafka.{snake(vector.name)}")
            lacking = (
                list(differences(as_json(kwire.message(vector.name), vector), shown[0]))
                if shown
                else ["not shown"]
            )
            if lacking:
                wrong[f"{vector.name} v{vector.version} {vector.profile}"] = lacking
    assert len(by_topic) == 4 or release != RELEASES[0]
    assert not wrong, f"seed {SEED}"
