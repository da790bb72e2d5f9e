"""The kept inputs are read again, each within its bounds; and a bad reader is found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import fuzzing.__main__ as runner
from fuzzing.__main__ import CORPUS, KEPT, Run, corpus, judge
from fuzzing.targets import TARGETS, Target


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_that_was_kept_breaks_its_reader(name: str) -> None:
    kept = corpus(name)
    assert {
        file: problem for file in kept if (problem := judge(TARGETS[name], kept[file])[1])
    } == {}


def test_the_corpus_is_small_and_has_what_is_read() -> None:
    folders = list(CORPUS.iterdir())
    assert {folder.name for folder in folders} == set(TARGETS)
    assert all(len(list(folder.iterdir())) <= KEPT for folder in folders)
    assert sum(file.stat().st_size for folder in folders for file in folder.iterdir()) < 200_000


def _breaks(data: bytes) -> None:
    raise KeyError(data)


def _never_ends(data: bytes) -> None:
    while data:
        len(data)


@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (_breaks, "KeyError at "),
        (_never_ends, "more than 1000 calls"),
    ],
)
def test_what_no_reader_may_do_is_a_finding(read: object, problem: str) -> None:
    _, found = judge(Target(read, most=1000), b"x")  # type: ignore[arg-type]
    assert found is not None
    assert found.startswith(problem)


def test_more_memory_than_an_input_may_take_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MEMORY", -1)
    assert judge(Target(len, most=1000), b"x")[1] == "more than -1 KiB"


def test_a_seed_tries_the_same_inputs_again() -> None:
    def tried() -> list[bytes]:
        inputs: list[bytes] = []
        run = Run("feed", Target(inputs.append, most=1000), random.Random(7))
        for _ in range(50):
            run.step()
        return inputs

    assert tried() == tried()


def test_a_finding_is_written_down_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "FOUND", tmp_path)
    run = Run("feed", Target(_breaks, most=1000), random.Random(7))
    run.step()
    assert len(run.findings) == 1
    (file,) = tmp_path.iterdir()
    assert file.read_bytes() in corpus("feed").values()
