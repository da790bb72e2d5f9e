"""`kwire conform --faults`: wrong usage, and a short run on kwire's quorum."""

from __future__ import annotations

import subprocess
from pathlib import Path
from signal import SIGINT
from subprocess import DEVNULL, PIPE

import pytest

from kwire.testing import BackgroundQuorum
from real_kafka import free_port
from tests.support.cli.command import KWIRE, Command
from tests.support.eventually import eventually_blocking

NODE = '{id: 3000, role: controller, advertised: "h:1", listens: "h:2"}'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--faults", "seed=1"), "--faults needs --topology FILE"),
        (("--faults", "storm", "--topology", "T"), "'storm' is no part of a fault schedule"),
        (("--faults", "seed=1", "--topology", "nowhere.yaml"), "nowhere.yaml"),
        (("--topology", "T"), "--topology, --allow and --report belong to --faults"),
    ],
)
def test_wrong_usage_is_said(
    kwire: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    topology = tmp_path / "cluster.yaml"
    topology.write_text(f"nodes: [{NODE}]")
    run = kwire("conform", *(str(topology) if word == "T" else word for word in words))
    assert run.code == 2
    assert said in " ".join(run.err.split())


def test_a_folder_that_cannot_be_made_is_refused_before_the_run(
    kwire: Command, tmp_path: Path
) -> None:
    topology = tmp_path / "cluster.yaml"
    topology.write_text(f"nodes: [{NODE}]")
    words = ("--faults", "seed=1,minutes=0.01", "--topology", str(topology))
    run = kwire("conform", *words, "--report", str(topology / "reports"))
    assert (run.code, run.error) == (1, f"cannot write {topology / 'reports'}: Not a directory.")


def topology_of(quorum: BackgroundQuorum, folder: Path) -> Path:
    """Write the topology of one controller; nobody else needs its address."""
    host, _, port = quorum.bootstrap_controllers.partition(":")
    path = folder / "cluster.yaml"
    path.write_text(
        f'nodes: [{{id: 3000, role: controller, advertised: "{host}:{free_port()}",'
        f' listens: "{host}:{port}"}}]'
    )
    return path


@pytest.mark.nightly
def test_a_quorum_that_runs_already_is_put_under_faults(kwire: Command, tmp_path: Path) -> None:
    with BackgroundQuorum(1) as quorum:
        topology = topology_of(quorum, tmp_path)
        schedule = "seed=1,minutes=0.25,faults=reset|delay,lasts=2,pause=1"
        words = ("--faults", schedule, "--topology", str(topology), "--report", str(tmp_path))
        run = kwire("conform", *words, "--allow", "check")
    assert run.code == 0, run.out + run.err
    assert "operations (" in run.out
    assert "# Faults: faults: " in (tmp_path / "faults.md").read_text()


@pytest.mark.nightly
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    with BackgroundQuorum(1) as quorum:
        topology = topology_of(quorum, tmp_path)
        words = ["conform", "--faults", "seed=1,minutes=5", "--topology", str(topology)]
        command = subprocess.Popen([KWIRE, *words], stdout=DEVNULL, stderr=PIPE, text=True)

        def resources() -> list[str]:
            leader = quorum.quorum.leader
            assert leader is not None
            image = leader.metadata.image
            return [r.name for r in image.configs.resources if r.name.startswith("kwire-conform")]

        eventually_blocking(lambda: bool(resources()), timeout=60)
        command.send_signal(SIGINT)
        _, err = command.communicate(timeout=90)
        assert command.returncode == 130, err
        assert "Traceback" not in err
        assert resources() == []
