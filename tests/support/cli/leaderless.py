"""Sentences of every command at the last of three controllers, which was restarted alone.

3000 answers; 3001 and 3002, which are gone, were voters. It has read nothing since it started.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from command_tree import asking, flags, tree
from tests.support.cli.command import Run
from tests.support.cli.command_lines import BROKER_LINES, CONTROLLER_LINES, command_of

ELSEWHERE = {
    "exporter",
    "migration plan",
    "migration status",
    "migration verify",
    "migration watch",
    "shell",
}
"""Commands that need ZooKeeper or a thread of their own, or that serve until they are stopped."""

DIAGNOSES = ("doctor", "quorum check", "quorum explain", "quorum upgrade")
"""Commands that look at each node by itself, and at once."""


def lines(folder: Path) -> Iterator[str]:
    """Yield a line for each command that has --bootstrap-controller. folder: for its files."""
    plan, password, document = folder / "plan.json", folder / "password", folder / "wanted.yaml"
    plan.write_text(
        '{"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]}'
    )
    password.write_text("made up")
    document.write_text("version: 1\ntopics:\n- {name: t, partitions: 1, replicationFactor: 1}\n")
    yield from BROKER_LINES.strip().splitlines()
    yield from CONTROLLER_LINES.replace(" --timeout 120", "").strip().splitlines()
    yield f"apply {document} --yes"
    yield f"partitions reassign apply {plan} --yes"
    yield f"partitions reassign verify {plan}"
    yield f"scram set u --password-file {password}"


def arguments(line: str, address: str, timeout: float) -> list[str]:
    """Return the arguments of a line at controllers, without a question."""
    path = command_of(line)
    at = [] if "{at}" in line else [f"--bootstrap-controller={address}"]
    unlisted = ["--allow-unlisted"] if "--allow-unlisted" in flags(path) else []
    return [*line.format(at=address).split(), *at, *unlisted, f"--timeout={timeout}"]


def uncovered(folder: Path) -> set[str]:
    """Return the commands that may be sent to controllers and have no line."""
    sent = {path for path in asking() if "--bootstrap-controller" in flags(path)}
    return sent - {command_of(line) for line in lines(folder)} - ELSEWHERE


def check(line: str, run: Run, address: str) -> None:
    """Assert that a command says what is so, and that it failed."""
    path = command_of(line)
    text = " ".join((run.out + run.err).split())
    assert run.code == (2 if path == "diff" else 1), text
    assert "too old" not in text
    assert "UNSUPPORTED_VERSION" not in text or path == "request"
    if is_refused(path) and "give --bootstrap-server" in text:
        return  # some list topics first
    if path in DIAGNOSES:
        assert "3000" in text
        if path != "quorum upgrade" and "--without" not in line:
            told = ("has read no metadata since it started", "follows nobody", "knows no leader")
            assert any(words in text for words in told), text
    elif path != "request":  # which prints the response as it is
        first = address.split(",")[0]
        assert f"no reachable leader: controller 3000 at {first} runs, has read no metadata" in text
        assert "1 of 3 addresses answers: start enough of the others for a majority" in text
        assert f"run kwire doctor --bootstrap-controller {address}" in text


def is_refused(path: str) -> bool:
    """Return True for a command that is not sent to controllers (KIP-919)."""
    return any(
        "--bootstrap-controller" in option.opts and option.hidden for option in tree()[path].params
    )
