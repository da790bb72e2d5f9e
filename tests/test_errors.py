"""Errors cross processes, and say what a code means where the node did not."""

import copy
import pickle
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import kwire
from kwire.errors import BrokerError, DecodeError, FileError, KwireError


def kinds(kind: type[KwireError] = KwireError) -> Iterator[type[KwireError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from kinds(below)


def sample(kind: type[KwireError]) -> KwireError:
    """Return an error of this class as if it had been raised with parts of its own."""
    error = kind.__new__(kind, "a sentence", 7)
    error.__dict__.update(code=41, path="topics[3]", file=None)
    return error


def test_every_error_survives_pickling_and_copying() -> None:
    for module in pkgutil.walk_packages(kwire.__path__, "kwire."):
        if module.name.startswith(("kwire.admin", "kwire.net", "kwire.logdir", "kwire.zookeeper")):
            import_module(module.name)
    seen = [sample(kind) for kind in set(kinds()) if kind.__module__.startswith("kwire.")]
    seen += [
        BrokerError(41, "the node said so"),
        DecodeError("it is cut", message="MetadataRequest", version=9, path="topics[3]", offset=7),
        FileError("it is cut", file=Path("segment"), offset=7),
    ]
    assert len(seen) > 20
    for error in seen:
        error.add_note("seen on the way")
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert type(again) is type(error)
            assert (str(again), again.args) == (str(error), error.args)
            assert again.__dict__.keys() == error.__dict__.keys()


@pytest.mark.parametrize(
    ("code", "message", "text"),
    [
        (41, "The controller is in pre-migration mode.", None),
        (69, None, "GROUP_ID_NOT_FOUND: there is no such group"),
        (69, "", "GROUP_ID_NOT_FOUND: there is no such group"),
        (69, "GROUP_ID_NOT_FOUND", "GROUP_ID_NOT_FOUND: there is no such group"),
        (9999, None, "ERROR 9999"),
    ],
)
def test_a_code_without_words_of_the_node_has_its_meaning(
    code: int, message: str | None, text: str | None
) -> None:
    assert str(BrokerError(code, message)) == (text or f"NOT_CONTROLLER: {message}")
