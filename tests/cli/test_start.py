"""The modules that a command loads: the start-up of `kwire quorum status` is most of its time."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest

from kwire.cli.quorum.screen import print_status
from kwire.codec import engine_choice
from kwire.testing.quorum import Quorum

ALLOWED = {
    *sys.stdlib_module_names,
    *("kwire", "admin", "cli"),
    *("msgspec", "typing_extensions"),
    *("typer", "annotated_doc", "shellingham"),
}
"""Top-level packages that a quick command may load. Add none without a look at what it costs."""

PROGRAM = """
import json, sys
before = set(sys.modules)
from kwire.cli.main import main
try:
    main()
except SystemExit as end:
    sys.stderr.write(json.dumps([end.code, sorted(set(sys.modules) - before)]))
"""


async def modules(*arguments: str, **environment: str) -> list[str]:
    """The modules that a command has loaded in a process of its own when it has succeeded."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )
    out, err = await process.communicate()
    code, loaded = json.loads(err.splitlines()[-1])
    assert code == 0, err
    assert out
    assert isinstance(loaded, list)
    return loaded


@pytest.mark.parametrize("engine", engine_choice.available()[:-1])
@pytest.mark.parametrize("form", [[], ["--json"]])
async def test_the_status_of_a_quorum_loads_no_more_than_it_needs(
    form: list[str], engine: str, tmp_path: Path
) -> None:
    """The second time: the first one leaves the engines' code on disk."""
    where = {"KWIRE_ENGINE": engine, "KWIRE_CACHE": str(tmp_path / "engines")}
    async with Quorum(1, folder=tmp_path / "data") as quorum:
        status = ("quorum", "status", "--bootstrap-controller", quorum.bootstrap_controllers, *form)
        assert "construct" in await modules(*status, **where)
        loaded = await modules(*status, **where)
    assert {name.partition(".")[0] for name in loaded} <= ALLOWED
    commands = {name for name in loaded if name.startswith("kwire.cli.")}
    assert not commands & {
        "kwire.cli.proxy.commands",
        "kwire.cli.pipeline.commands",
        "kwire.cli.capture.commands",
        "kwire.cli.demo.command",
        "kwire.cli.watch.command",
    }
    assert not set(loaded) & {"kwire.net.sasl", "kwire.net.stores", "kwire.net.tls"}


STATUS = {
    "clusterId": "a-cluster",
    "leaderId": 3001,
    "maxFollowerLag": None,
    "currentVoters": [
        {"id": 3001, "directoryId": "J8aAPcfLQt2bqs1JT_rMgQ", "endpoints": ["CONTROLLER://a:1"]},
        {"id": 2, "directoryId": None, "endpoints": ["CONTROLLER://a:2", "X://b:2"]},
    ],
    "currentObservers": [{"id": 1, "directoryId": "tiny"}],
}


@pytest.mark.parametrize("observers", [STATUS["currentObservers"], []], ids=["one", "none"])
def test_a_pipe_has_the_words_of_a_terminal(
    observers: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status = {**STATUS, "currentObservers": observers}
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    print_status(status)
    piped = capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    print_status(status)
    shown = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert [line.rstrip() for line in piped.splitlines()] == [
        line.rstrip() for line in shown.splitlines()
    ]
