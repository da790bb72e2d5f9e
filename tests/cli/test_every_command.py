"""Every command of the tree: its --help teaches, and it fails in one sentence without a cluster."""

import re

import pytest

from command_tree import BOOTSTRAP, asking, flags, is_group, leaves, tree
from real_kafka import free_port
from tests.support.cli.command import Command

SERVES_ON = {"exporter", "migration watch"}
"""Commands that wait for a cluster that is down, as the services that they are."""

SLOW_TO_FAIL = {"shell"}
"""Commands that keep looking for a leader until --timeout."""


def callable_at_an_address() -> list[str]:
    """Return those that ask a cluster and for which its address may be enough."""
    return [
        path
        for path in asking()
        if path not in SERVES_ON and not any(option.required for option in tree()[path].params)
    ]


def address_option(path: str) -> str:
    return next(flag for flag in BOOTSTRAP if flag in flags(path))


def test_the_tree_is_whole() -> None:
    assert {"topics create", "partitions reassign plan", "quorum status", "demo"} <= set(leaves())
    assert {"topics list", "quorum status", "doctor", "api-versions"} <= set(
        callable_at_an_address()
    )


def test_help_teaches_by_example(kwire: Command, subtests: pytest.Subtests) -> None:
    for path, command in tree().items():
        with subtests.test(path):
            run = kwire(*path.split(), "--help")
            assert run.code == 0
            assert run.err == ""
            assert run.out.startswith(f"Usage: kwire {path} ")
            if not is_group(command):
                example = rf"^  (\S+ .*\| )?kwire {path}( |$)"
                assert re.search(example, run.out.partition("Options:")[0], re.MULTILINE)


def test_every_option_has_a_help_text() -> None:
    assert not [
        f"{path} {parameter.opts}"
        for path, command in tree().items()
        for parameter in command.params
        if parameter.param_type_name == "option" and not parameter.hidden and not parameter.help
    ]


def test_no_summary_in_the_list_of_commands_is_cut(
    kwire: Command, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for path in ["", *(path for path, command in tree().items() if is_group(command))]:
        with subtests.test(path):
            listed = kwire(*path.split(), "--help").out.rpartition("Commands:\n")[2]
            assert listed
            assert not re.search(r"\.\.\.$", listed, re.MULTILINE)
            assert max(map(len, listed.splitlines())) <= 60


@pytest.fixture
def no_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no cluster that a command could find by itself."""
    monkeypatch.setenv("KWIRE_CONFIG", "/nonexistent/kwire.toml")
    monkeypatch.delenv("KWIRE_PROFILE", raising=False)


@pytest.mark.usefixtures("no_profile")
def test_without_a_cluster_it_is_wrong_usage(kwire: Command, subtests: pytest.Subtests) -> None:
    for path in asking():
        with subtests.test(path):
            run = kwire(*path.split())
            assert run.code == 2
            assert run.error


@pytest.mark.usefixtures("no_profile")
def test_at_a_dead_address_it_fails_in_one_sentence(
    kwire: Command, subtests: pytest.Subtests
) -> None:
    for path in callable_at_an_address():
        with subtests.test(path):
            dead = f"127.0.0.1:{free_port()}"
            timeout = ["--timeout", "0.5"] if path in SLOW_TO_FAIL else []
            run = kwire(*path.split(), address_option(path), dead, *timeout)
            if "Usage: " in run.err:  # it wants one of several arguments, and says which
                assert run.code == 2
                assert "-h' for help" in run.err
                continue
            assert run.code == 1
            assert dead in (run.out or run.error)
            assert "; start the node" in (run.out or run.error)
            assert len(run.err.splitlines()) == (0 if run.out else 1)


@pytest.mark.usefixtures("no_profile")
def test_at_a_dead_address_json_is_one_object(kwire: Command, subtests: pytest.Subtests) -> None:
    for path in callable_at_an_address():
        if "--output" not in flags(path):
            continue
        with subtests.test(path):
            dead = f"127.0.0.1:{free_port()}"
            run = kwire(*path.split(), address_option(path), dead, "-o", "json")
            if run.code == 2:
                assert run.out == ""
            else:
                assert run.code == 1
                assert isinstance(run.json, dict)
