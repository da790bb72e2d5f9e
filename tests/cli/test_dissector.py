"""`kwire dissector`: the Lua file on stdout or in a file, and ports that are no ports."""

from pathlib import Path

import pytest

from kwire.dissector import dissector_source
from tests.support.cli.command import Command


def test_the_dissector_is_printed(kwire: Command) -> None:
    done = kwire("dissector")
    assert (done.code, done.out) == (0, dissector_source())
    assert 'local DEFAULT_PORTS = "9092,9093"' in done.out


def test_the_dissector_is_written_with_other_ports(kwire: Command, tmp_path: Path) -> None:
    path = tmp_path / "kafka.lua"
    done = kwire("dissector", "--output", str(path), "--ports", "9092,19000-19009")
    assert done.code == 0
    assert path.read_text("utf-8") == dissector_source("9092,19000-19009")


@pytest.mark.parametrize(
    "ports", ["kafka", "9092,", '9092"', "1-2-3", "123456", "70000", "1-65536", "9-8"]
)
def test_what_is_no_list_of_ports_is_refused(kwire: Command, ports: str) -> None:
    done = kwire("dissector", "--ports", ports)
    assert done.code == 2
    assert "is no list of ports" in done.err
