"""Straight-line writers of JSON do what the walk over the fields does, errors included."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import kwire
from kwire.codec.json_writing import MisfitError, StructWriter, writer
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, Listener
from tests.support.codec.native import attack


def outcome(write: Callable[[Any], Any], obj: Any) -> Any:
    try:
        return repr(write(obj))
    except MisfitError as misfit:
        return misfit.reason, misfit.path


def agree(cls: Any, version: int, obj: Any) -> bool:
    """Compare both ways, exact or not; return whether they write the object."""
    struct = cls.at(version)
    for exact in (True, False):
        walked = outcome(StructWriter(struct, exact).write, obj)
        assert outcome(writer(struct, exact), obj) == walked
    return isinstance(walked, str)


def test_of_every_message_an_object_with_its_defaults_is_written_alike() -> None:
    messages = [cls for cls in kwire.all_messages() if len(cls.versions)]
    assert all(agree(cls, max(cls.versions), cls()) for cls in messages)


@pytest.mark.java
def test_kafkas_messages_and_spoilt_ones_are_written_alike() -> None:
    random = Random(33)
    counts = [0, 0]
    for vector in attack.all_vectors(step=40):
        if len(vector.data) < 5_000:
            cls = kwire.message(vector.name)
            obj: Any = cls.decode(vector.data, vector.version)
            assert agree(cls, vector.version, obj)
            attack.spoil(obj, random)
            counts[agree(cls, vector.version, obj)] += 1
    assert min(counts) > 50


@pytest.mark.parametrize(
    ("port", "path"), [(1 << 16, "listeners[1].port"), ("9", "listeners[1].port")]
)
def test_the_path_leads_to_what_does_not_fit(port: Any, path: str) -> None:
    listeners = [Listener(), Listener(port=port)]
    assert outcome(
        writer(AddRaftVoterRequest.at(1), True), AddRaftVoterRequest(listeners=listeners)
    ) == (
        f"{port!r} is not a value of this field"
        if isinstance(port, str)
        else f"{port} is no uint16",
        path,
    )
