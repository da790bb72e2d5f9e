"""The unit of docs/service: systemd takes it, and what it starts ends as the unit expects."""

import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.cli.command import KWIRE
from tests.support.cli.service_process import GatedNode, listener, running, service, write
from tests.support.paths import DOCS

UNIT = (DOCS / "service" / "kwire-proxy.service").read_text()
INSTALLED = "/opt/kwire/bin/kwire"


def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not on this machine")
    unit = tmp_path / "kwire-proxy.service"
    unit.write_text(UNIT.replace(INSTALLED, str(KWIRE)))
    found = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


def test_what_it_starts_is_stopped_by_sigterm_and_started_again_after_a_kill(
    gated_node: GatedNode, tmp_path: Path
) -> None:
    (start,) = re.findall(r"^ExecStart=(.*)", UNIT, re.MULTILINE)
    program, *words = shlex.split(start)
    assert program == INSTALLED
    (tmp_path / "captures").mkdir()
    record = {"path": "captures"}
    file = write(
        tmp_path / "kwire-proxy.yaml", service(listener(gated_node.address), record=record)
    )
    assert words == ["proxy", "--config", f"/etc/kwire/{file.name}"]
    for number, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)):
        with running(file) as run:
            run.next_event("ready")
            assert run.end(number) == code
    # An end by a signal other than SIGTERM and its like is a failure (systemd.service(5)).
    assert "Restart=on-failure" in UNIT
    assert "StartLimitIntervalSec=0" in UNIT
