"""Every command of the tree: its --help teaches, and it fails in one sentence without a cluster."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from kwire.cli.main import app
from real_kafka import free_port
from tests.support.cli.command import Command

SERVES_ON = {"exporter", "migration watch"}
"""Commands that wait for a cluster that is down, as the services that they are."""

SLOW_TO_FAIL = {"shell"}
"""Commands that keep looking for a leader until --timeout."""


def commands_below(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the command of everything in a group, groups too."""
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if hasattr(command, "list_commands"):
            yield from commands_below(command, (*path, name))


TREE = {" ".join(path): command for path, command in commands_below(typer.main.get_command(app))}


def flags(command: Any) -> set[str]:
    """Return the options of a command."""
    return {flag for parameter in command.params for flag in parameter.opts if flag[0] == "-"}


LEAVES = [path for path, command in TREE.items() if not hasattr(command, "list_commands")]
GROUPS = [path for path in TREE if path not in LEAVES]
BOOTSTRAP = ("--bootstrap-server", "--bootstrap-controller")

ASKING = [path for path in LEAVES if not flags(TREE[path]).isdisjoint(BOOTSTRAP)]
"""Commands that ask a cluster."""

CALLABLE = [
    path
    for path in ASKING
    if path not in SERVES_ON and not any(parameter.required for parameter in TREE[path].params)
]
"""Those of them that an address may be enough for."""


def test_the_tree_is_whole() -> None:
    assert {"topics create", "partitions reassign plan", "quorum status", "demo"} <= set(LEAVES)
    assert {"topics list", "quorum status", "doctor", "api-versions"} <= set(CALLABLE)


@pytest.mark.parametrize("path", TREE)
def test_help_is_printed_with_exit_code_0(kwire: Command, path: str) -> None:
    run = kwire(*path.split(), "--help")
    assert run.code == 0
    assert run.err == ""
    assert run.out.startswith(f"Usage: kwire {path} ")


@pytest.mark.parametrize("path", LEAVES)
def test_help_has_an_example_on_a_line_of_its_own(kwire: Command, path: str) -> None:
    printed = kwire(*path.split(), "--help").out
    assert re.search(rf"^  (\S+ .*\| )?kwire {path}( |$)", printed, re.MULTILINE)


@pytest.mark.parametrize("path", TREE)
def test_every_option_has_a_help_text(path: str) -> None:
    options = [p for p in TREE[path].params if p.param_type_name == "option" and not p.hidden]
    assert [option.opts for option in options if not option.help] == []


@pytest.mark.parametrize("path", ["", *GROUPS])
def test_no_summary_in_the_list_of_commands_is_cut(
    kwire: Command, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
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
@pytest.mark.parametrize("path", ASKING)
def test_without_a_cluster_it_is_wrong_usage(kwire: Command, path: str) -> None:
    run = kwire(*path.split())
    assert run.code == 2
    assert run.error


@pytest.mark.usefixtures("no_profile")
@pytest.mark.parametrize("path", CALLABLE)
def test_at_a_dead_address_it_fails_in_one_sentence(kwire: Command, path: str) -> None:
    option = next(flag for flag in BOOTSTRAP if flag in flags(TREE[path]))
    dead = f"127.0.0.1:{free_port()}"
    run = kwire(
        *path.split(), option, dead, *(["--timeout", "0.5"] if path in SLOW_TO_FAIL else [])
    )
    if "Usage: " in run.err:  # it wants one of several arguments, and says which
        assert run.code == 2
        assert "-h' for help" in run.err
        return
    assert run.code == 1
    assert dead in (run.out or run.error)
    assert "; start the node" in (run.out or run.error)
    assert len(run.err.splitlines()) == (0 if run.out else 1)


@pytest.mark.usefixtures("no_profile")
@pytest.mark.parametrize("path", [path for path in CALLABLE if "--output" in flags(TREE[path])])
def test_at_a_dead_address_json_is_one_object(kwire: Command, path: str) -> None:
    option = next(flag for flag in BOOTSTRAP if flag in flags(TREE[path]))
    run = kwire(*path.split(), option, f"127.0.0.1:{free_port()}", "-o", "json")
    if run.code == 2:
        assert run.out == ""
    else:
        assert run.code == 1
        assert isinstance(run.json, dict)
