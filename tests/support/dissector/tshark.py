"""tshark with the dissector of this checkout."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from xml.etree import ElementTree

import pytest

from kwire.dissector import dissector_source
from real_kafka.choice import required

TIMEOUT = 120.0


class Tshark:
    """Runs tshark on files of packets."""

    def __init__(self, folder: Path) -> None:
        self._script = folder / "kafka.lua"
        self._script.write_text(dissector_source(), "utf-8")

    def run(self, packets: Path, *arguments: str) -> str:
        """Return what tshark prints; fail if it, or the dissector, fails."""
        command = ["tshark", "-X", f"lua_script:{self._script}", "-r", str(packets), *arguments]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=TIMEOUT
        )
        assert done.returncode == 0, done.stderr
        assert "Lua Error" not in done.stdout + done.stderr
        assert "The dissector has failed" not in done.stdout
        return done.stdout

    def frames(self, packets: Path, *arguments: str) -> Iterator[ElementTree.Element]:
        """Yield the protocol's element of every frame of Kafka, as PDML has it."""
        root = ElementTree.fromstring(self.run(packets, "-T", "pdml", *arguments))
        return (proto for proto in root.iter("proto") if proto.get("name") == "kwire")


@pytest.fixture
def tshark(tmp_path: Path) -> Tshark:
    """CI installs tshark; elsewhere a test without it is skipped."""
    if which("tshark") is None:
        reason = "there is no tshark: apt-get install tshark"
        (pytest.fail if required() else pytest.skip)(reason)
    return Tshark(tmp_path)
