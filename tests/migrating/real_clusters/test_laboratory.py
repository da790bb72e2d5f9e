"""A person leads a real cluster through a migration, one step an answer."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from migrating.real_clusters.laboratory import follow
from migrating.real_clusters.operator_stage import OperatorStage
from real_kafka import Launcher
from tests.support.cli.demo_run import left_behind, start_demo

ENDING = "end: stop and remove everything"
LABORATORY = (sys.executable, "-m", "migrating.real_clusters")


class RecordedSteps:
    """A cluster that only notes what is done with it."""

    def __init__(self) -> None:
        self.stage = OperatorStage.ZOOKEEPER
        self.done: list[str] = []

    def provision_controllers(self) -> None:
        self._reach(OperatorStage.CONTROLLERS_PROVISIONED)

    def enter_migration_mode(self) -> None:
        self._reach(OperatorStage.BROKERS_IN_MIGRATION_MODE)

    def wait_for_dual_write(self) -> int:
        self.done.append("dual write")
        return 0

    def migrate_brokers_to_kraft(self) -> None:
        self._reach(OperatorStage.BROKERS_IN_KRAFT_MODE)

    def finalize_migration(self) -> None:
        self._reach(OperatorStage.FINALIZED)

    def revert_to_zookeeper(self) -> None:
        self._reach(OperatorStage.ZOOKEEPER)

    def _reach(self, stage: OperatorStage) -> None:
        self.stage = stage
        self.done.append(stage.name)


def followed(*answers: str) -> tuple[list[str], str]:
    cluster = RecordedSteps()
    said: list[str] = []
    follow(cluster, answers, said.append, lambda: [f"ask {cluster.stage.name}"])
    return cluster.done, "\n".join(said)


def test_each_empty_line_is_the_next_step_until_there_is_none() -> None:
    done, said = followed("\n", "\n", "\n", "\n", "\n", "end\n", "\n")
    assert done == [
        "CONTROLLERS_PROVISIONED",
        "BROKERS_IN_MIGRATION_MODE",
        "dual write",
        "BROKERS_IN_KRAFT_MODE",
        "FINALIZED",
    ]
    assert [stage.name for stage in OperatorStage if f"ask {stage.name}" in said] == [
        stage.name for stage in OperatorStage
    ]


def test_the_way_back_is_there_between_the_first_stage_and_the_last() -> None:
    done, _ = followed("back\n", "\n", "back\n", "back\n")
    assert done == ["CONTROLLERS_PROVISIONED", "ZOOKEEPER"]
    done, said = followed("\n", "\n", "\n", "\n", "back\n")
    assert done[-1] == "FINALIZED"
    assert said.endswith("there is no way back.\n    ask FINALIZED\n" + "\n".join([ENDING, ENDING]))


def test_another_answer_does_nothing_and_tells_the_choices() -> None:
    done, said = followed("what?\n")
    assert done == []
    assert said.count("Enter: provision the controllers; end: stop") == 2


def shown_after(run: subprocess.Popen[str], answer: str = "") -> str:
    """Give an answer; return what is printed until the next choice."""
    assert run.stdin
    assert run.stdout
    run.stdin.write(answer)
    run.stdin.flush()
    lines = []
    for line in run.stdout:
        lines.append(line)
        if line.endswith(f"{ENDING}\n"):
            break
    return "".join(lines)


def verified(shown: str) -> str:
    """Run the printed `kwire migration verify`."""
    kwire = Path(sys.executable).with_name("kwire")
    command = re.search(r"kwire (migration verify .*)", shown)
    assert command, shown
    ran = subprocess.run([kwire, *command[1].split()], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.migrations
def test_the_printed_commands_tell_of_the_cluster(kafka: Launcher, tmp_path: Path) -> None:
    with start_demo([*LABORATORY, "--brokers", "1"], tmp_path) as run:
        assert "nothing stands against a copy" in verified(shown_after(run))
        shown_after(run, "\n")
        assert "both sides hold the same" in verified(shown_after(run, "\n"))
        assert "nothing stands against a copy" in verified(shown_after(run, "back\n"))
        out, _ = run.communicate("end\n", timeout=60)
    assert run.returncode == 0, out
    assert left_behind(tmp_path) == []
