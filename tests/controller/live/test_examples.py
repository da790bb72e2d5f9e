"""The debugging session of docs/engineers/testing.md runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kwire.testing.local_kafka.address import free_port
from real_kafka import Launcher
from tests.support.paths import ROOT

pytestmark = [pytest.mark.cluster, pytest.mark.nightly]


def test_the_debugging_session_runs(kafka: Launcher, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "engineers" / "testing.md").read_text()
    (script,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    for port in ("19092", "19093", "9900"):  # others may have them on this machine
        assert f":{port}" in script
        script = script.replace(f":{port}", f":{free_port()}")
    tools = tmp_path / "bin"
    tools.mkdir()
    kwire = tools / "kwire"
    kwire.write_text(f"#!{sys.executable}\nfrom kwire.cli.main import main\nmain()\n")
    kwire.chmod(0o755)
    done = subprocess.run(
        [
            "bash",
            "-e",
            "-m",
            "-c",
            f"trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{script}wait %1\n",
        ],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"CreateTopics v\d+ .*orders", done.stdout)
    assert "LeaderId" in done.stdout
    assert done.stdout.rstrip().endswith("orders")
