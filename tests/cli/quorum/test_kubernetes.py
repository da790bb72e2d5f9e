"""Probes and hook of docs/service/kubernetes/controllers.yaml, run as the kubelet runs them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwire.testing import BackgroundQuorum
from tests.support.cli.command import KWIRE
from tests.support.eventually import eventually_blocking
from tests.support.paths import DOCS

RECIPE = DOCS / "service" / "kubernetes" / "controllers.yaml"

pytestmark = pytest.mark.costly

Hook = Callable[..., subprocess.CompletedProcess[str]]


def container() -> Any:
    """Return the container of the controllers."""
    *_, controllers = yaml.safe_load_all(RECIPE.read_text())
    (only,) = controllers["spec"]["template"]["spec"]["containers"]
    return only


def kubelet(quorum: BackgroundQuorum, folder: Path) -> Hook:
    """Return what runs a probe, or the hook, of one controller of a quorum; None: it has passed."""
    everybody = quorum.bootstrap_controllers
    voters = folder / "voters"
    voters.write_text("3")

    def run(hook: str, ordinal: int) -> subprocess.CompletedProcess[str]:
        of_container = container()
        action = of_container[hook] if hook in of_container else of_container["lifecycle"][hook]
        *shell, script = action["exec"]["command"]
        own = everybody.split(",")[ordinal]
        script = script.replace("localhost:9093", own).replace("controllers:9093", everybody)
        script = script.replace("/etc/controllers/voters", str(voters))
        path = f"{KWIRE.parent}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "HOSTNAME": f"controllers-{ordinal}"}
        command = [*shell, script]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return run


def test_a_controller_that_takes_part_passes_and_one_that_is_down_alone_is_started_again(
    tmp_path: Path,
) -> None:
    with BackgroundQuorum(3) as quorum:
        leader = quorum.wait_for_leader()
        run = kubelet(quorum, tmp_path)
        for hook in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert run(hook, 0).returncode == 0, hook
        down = next(number for number in range(3) if 3000 + number != leader)
        quorum.kill(3000 + down)
        assert run("readinessProbe", down).returncode == 1
        assert run("livenessProbe", down).returncode == 1
        other = next(number for number in range(3) if number != down)
        quorum.kill(3000 + other)
        assert run("readinessProbe", down).returncode == 1
        # Without a leader restarts help nobody. A leader that lost its followers takes a moment to
        # resign; the kubelet, which waits for five failures, does not act on that moment.
        eventually_blocking(lambda: run("livenessProbe", down).returncode == 0)


def test_only_a_controller_beyond_the_number_of_voters_leaves_when_it_is_stopped(
    tmp_path: Path,
) -> None:
    with BackgroundQuorum(3) as quorum:
        quorum.wait_for_leader()
        run = kubelet(quorum, tmp_path)
        assert run("preStop", 2).stdout == ""
        (tmp_path / "voters").write_text("2")
        assert run("preStop", 1).stdout == ""
        hook = run("preStop", 2)
        assert hook.returncode == 0, hook.stderr
        assert "emoved" in hook.stdout
        command = [str(KWIRE), "quorum", "status"]
        command += ["--bootstrap-controller", quorum.bootstrap_controllers]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        voters = printed.split("CurrentObservers")[0]
        assert re.findall(r"^(30\d\d) ", voters, re.MULTILINE) == ["3000", "3001"]
