"""conform.md: its example in Python runs, its expectations are read, its options exist."""

import asyncio
import re
import textwrap
from pathlib import Path

import pytest
import typer

from kwire.cli.main import app
from kwire.conform.report.expected import read_expectations
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from scripted_node import ScriptedNode
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "engineers" / "conform.md").read_text()


def example(language: str, containing: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return next(str(block) for block in blocks if containing in block)


async def test_the_example_in_python_runs(capsys: pytest.CaptureFixture[str]) -> None:
    scripts = {MetadataRequest: lambda frame: MetadataResponse(brokers=[], topics=[])}
    async with ScriptedNode(scripts) as node:  # type: ignore[arg-type]
        source = example("python", "run_suite").replace("localhost:9092", node.address)
        source = source.replace('("versions",)', '("start/server/1",)')
        await asyncio.to_thread(exec, compile(source, "example", "exec"), {})
    assert capsys.readouterr().out == "1 passed\n"


def test_the_example_of_expectations_is_read(tmp_path: Path) -> None:
    file = tmp_path / "kafka.yaml"
    file.write_text(textwrap.dedent(example("yaml", "server: Apache Kafka")))
    assert read_expectations(file).server == "Apache Kafka 4.3.1"


def test_the_options_on_the_page_are_those_of_its_commands() -> None:
    group = typer.main.get_command(app)
    known = {"--help"}
    for name in ("conform", "demo"):
        command = group.get_command(typer.Context(group), name)  # type: ignore[attr-defined]
        known |= {flag for parameter in command.params for flag in parameter.opts}
    named = set(re.findall(r"(?<![\w-])--(?!kwire)[a-z][a-z-]+", PAGE))
    assert named <= known
