"""The same session gets the same answers from kwire's controllers and from Kafka's."""

import asyncio
import re

from kwire.codec.declaration import Response
from kwire.controller.server.quorum import Quorum
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsResponse
from real_kafka import Layout
from tests.support.controller.live.admin_session import Session, run
from tests.support.controller.live.answer_differences import (
    ABSENT,
    NOT_YET,
    PRESENT,
    differences,
    flat,
)
from tests.support.controller.live.config_script import EVERY_KEY
from tests.support.real_kafka.own_cluster import OwnCluster

QUIET = {"broker.session.timeout.ms": "600000"}
"""Brokers that are none stay registered for the session."""


LISTED = {
    rf"ApiVersions v\d: api_keys\[({NOT_YET})\]": (ABSENT, PRESENT),
    r"ApiVersions v4: supported_features\[eligible\.leader\.replicas\.version\]\.max_version": (
        0,
        1,
    ),
    r"ApiVersions v\d: api_keys\[18\]\.max_version": (5, 4),
    r"ApiVersions v\d: api_keys\[94\]": (PRESENT, ABSENT),
    r"ApiVersions v\d: supported_features\[metadata\.version\]\.max_version": (33, 30),
    r"ApiVersions v4: supported_features\[share\.version\]\.max_version": (2, 1),
    r"IncrementalAlterConfigs set null: responses\[t\]\.error_code": (42, 0),
    r"IncrementalAlterConfigs operation 9: responses\[c\]\.error_code": (42, -1),
    r"UnregisterBroker after operation 9: error_code": (0, 41),
    r"UnregisterBroker after operation 9: error_message": ("no text", "a text"),
}
"""Every difference by its path, with both values; docs/controller.md has the reasons, in this
order."""


def found(ours: Session, theirs: Session) -> dict[str, tuple[object, object]]:
    """Every difference by `step: path`, ours first."""
    everything: dict[str, tuple[object, object]] = {}
    for step, answer in ours.answers.items():
        pair = _comparable(answer, ours), _comparable(theirs.answers[step], theirs)
        for path, values in differences(*pair).items():
            everything[f"{step}: {path}"] = values
    return everything


def _comparable(answer: Response | str, session: Session) -> dict[str, object]:
    return {"": answer} if isinstance(answer, str) else flat(answer, session.leader_id)


def messages(session: Session) -> dict[str, str | None]:
    """Return the error message for every key with every value, by step and resource."""
    return {
        f"{step}: {response.resource_name}": response.error_message
        for step, answer in session.answers.items()
        if step.startswith(EVERY_KEY) and isinstance(answer, IncrementalAlterConfigsResponse)
        for response in answer.responses
    }


def _listed(path: str, values: tuple[object, object]) -> str | None:
    """The entry of the list that a difference is."""
    for pattern, expected in LISTED.items():
        if re.fullmatch(pattern, path) and expected == values:
            return pattern
    return None


async def test_a_session_gets_the_answers_that_kafka_gives_but_for_the_listed_ones(
    own_cluster: OwnCluster,
) -> None:
    async with Quorum(2, properties=QUIET) as quorum:
        ours = await run(quorum.addresses, quorum.cluster_id)
    cluster = own_cluster(Layout(controllers=(3000, 3001), properties=QUIET))
    await asyncio.to_thread(cluster.start)
    at = {
        id: (node.controller_address.host, node.controller_address.port)
        for id, node in cluster.controllers.items()
    }
    theirs = await run(at, cluster.cluster_id)
    assert ours.answers.keys() == theirs.answers.keys()
    # the last two bytes are the highest version of ApiVersions itself, which is in the list
    assert ours.unknown_version == theirs.unknown_version[:-2] + b"\0\5"
    assert theirs.unknown_version[-2:] == b"\0\4"
    assert len(messages(ours)) > 3000
    assert messages(ours) == messages(theirs)
    differing = found(ours, theirs)
    by_entry = {path: _listed(path, values) for path, values in differing.items()}
    assert {path: differing[path] for path, entry in by_entry.items() if entry is None} == {}
    assert set(by_entry.values()) == LISTED.keys(), "an entry of the list is no difference any more"
