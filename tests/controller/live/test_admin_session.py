"""The same session gets the same answers from kwire's controllers and from Kafka's."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.controller.authorization.standard_authorizer import CLASS_NAME
from kwire.messages.a19_create_topics import CreateTopicsResponse
from kwire.messages.a20_delete_topics import DeleteTopicsResponse
from kwire.messages.a37_create_partitions import CreatePartitionsResponse
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsResponse
from kwire.testing.quorum import Quorum
from real_kafka import Layout
from tests.support.controller.live.admin_session import Session, run
from tests.support.controller.live.answer_differences import differences, flat
from tests.support.controller.live.config_script import EVERY_KEY
from tests.support.controller.live.entity_records import (
    PROPERTIES,
    ends_of_tokens,
    entity_records,
    token_fields,
)
from tests.support.controller.live.listed_differences import ALL_LISTED, row_of
from tests.support.controller.live.session import entities, mutations
from tests.support.real_kafka.own_cluster import OwnCluster

FORWARDED = {step.principal for step in (*entities.SCRIPT, *mutations.script()) if step.principal}
SETTINGS = {
    "broker.session.timeout.ms": "600000",
    "authorizer.class.name": CLASS_NAME,
    "super.users": ";".join(("User:ANONYMOUS", *sorted(FORWARDED))),
    **PROPERTIES,
}
"""Brokers that are none stay registered for the session; who is in it may do everything."""
LEVELS = {"4.3.1": "4.3-IV0", "4.4.0": "4.4-IV2"}
"""The metadata.version of a new cluster of each release."""
REQUESTS = 1300
"""The session has as many at least."""


def found(ours: Session, theirs: Session) -> dict[str, tuple[object, object]]:
    """Every difference by `step: path`, ours first."""
    everything: dict[str, tuple[object, object]] = {}
    for step in ours.answers:
        pair = _comparable(step, ours), _comparable(step, theirs)
        for path, values in differences(*pair).items():
            # Other steps create topics for the sake of their configurations.
            if step.startswith(mutations.THEME) and ".configs[" in path:
                continue
            everything[f"{step}: {path}"] = values
    return everything


def _comparable(step: str, session: Session) -> dict[str, object]:
    answer = session.answers[step]
    if isinstance(answer, str):
        return {"": answer}
    ends = ends_of_tokens(session.answers.values())
    fields = token_fields(answer, session.times[step], ends)
    return flat(answer, session.leader_id) | fields


def messages(session: Session) -> dict[str, str | None]:
    """Return the error message for every key with every value, by step and resource."""
    return {
        f"{step}: {response.resource_name}": response.error_message
        for step, answer in session.answers.items()
        if step.startswith(EVERY_KEY) and isinstance(answer, IncrementalAlterConfigsResponse)
        for response in answer.responses
    }


def throttle_times(session: Session) -> dict[str, int]:
    """Return the throttle times of the steps about mutation quotas."""
    return {
        step: answer.throttle_time_ms
        for step, answer in session.answers.items()
        if isinstance(
            answer, CreateTopicsResponse | CreatePartitionsResponse | DeleteTopicsResponse
        )
        and step.startswith(mutations.THEME)
    }


def is_muted(session: Session) -> bool:
    """True if the request after the straight one was answered when its client might ask again."""
    passed = session.times[mutations.NEXT] - session.times[mutations.STRAIGHT]
    return passed > 0.8 * mutations.STRAIGHT_MS


@pytest.fixture
def root_level() -> Iterator[None]:
    """Give the root logger its level back: the session is about log levels, too."""
    before = logging.root.level
    yield
    logging.root.setLevel(before)


@pytest.mark.usefixtures("root_level")
@pytest.mark.parametrize("release", ["4.3.1", pytest.param("4.4.0", marks=pytest.mark.releases)])
async def test_a_session_gets_the_answers_that_kafka_gives_but_for_the_listed_ones(
    own_cluster: OwnCluster, release: str
) -> None:
    cluster = own_cluster(Layout(controllers=(3000, 3001), version=release, properties=SETTINGS))
    await asyncio.to_thread(cluster.start)
    at = {
        id: (node.controller_address.host, node.controller_address.port)
        for id, node in cluster.controllers.items()
    }
    async with Quorum(2, properties=SETTINGS, release=LEVELS[release]) as quorum:
        # Both at once: half a minute of it is waiting for quotas.
        ours, theirs = await asyncio.gather(
            run(quorum.addresses, quorum.cluster_id), run(at, cluster.cluster_id)
        )
        our_records = entity_records(quorum.members[ours.leader_id].folder)
    their_records = entity_records(Path(cluster.nodes[theirs.leader_id].folder) / "data")
    assert ours.answers.keys() == theirs.answers.keys()
    assert len(ours.answers) >= REQUESTS
    # the last two bytes are the highest version of ApiVersions itself, which is in the list
    assert ours.unknown_version[:-2] == theirs.unknown_version[:-2]
    assert ours.unknown_version[-1] == 5
    assert theirs.unknown_version[-1] == {"4.3.1": 4, "4.4.0": 5}[release]
    assert len(messages(ours)) > 3000
    if release == "4.3.1":  # whose keys and sentences kwire has
        assert messages(ours) == messages(theirs)
    differing = found(ours, theirs)
    rows = {path: row_of(path, values, release) for path, values in differing.items()}
    assert {path: differing[path] for path, row in rows.items() if row is None} == {}
    listed = {
        (row.step, path) for row in ALL_LISTED if release in row.releases for path in row.paths
    }
    assert set(rows.values()) == listed, "an entry of the list is no difference any more"
    our_times, their_times = throttle_times(ours), throttle_times(theirs)
    assert {step: bool(ms) for step, ms in our_times.items()} == {
        step: bool(ms) for step, ms in their_times.items()
    }
    assert our_times == pytest.approx(their_times, abs=mutations.CLOCK_MS)
    assert is_muted(ours)
    assert is_muted(theirs)
    assert len(our_records) > 25
    assert our_records == their_records
