"""`kwire migration watch` and the lines of a status, without a cluster."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import pytest

from kwire.cli.migration.lines import status_lines
from kwire.cli.migration.options import MigrationOptions
from kwire.cli.migration.watch import ChangeLines, ChangeObjects, drawn, follow
from kwire.migration.operator.facts import MigrationFacts
from kwire.migration.operator.status import MigrationStatus, status_of
from kwire.testing.local_kafka.address import free_port
from kwire.zookeeper import ZooKeeper, ZooKeeperUnreachable
from kwire.zookeeper.kazoo_client import KazooZooKeeper
from kwire.zookeeper.settings import ZooKeeperSettings
from tests.support.cli.command import KWIRE
from tests.support.migration.golden import golden_zookeeper
from tests.support.migration.sides import dual_write, finalised, waiting, zookeeper

STAGES = {
    "zookeeper": MigrationFacts(zookeeper=zookeeper()),
    "waiting": waiting(0),
    "dual write": dual_write(1),
    "behind": dual_write(end=900),
    "KRaft brokers": dual_write(0, 1),
    "finalised": finalised(),
    "nothing seen": MigrationFacts(no_zookeeper="zk1 refused", no_kraft="c1 refused"),
}


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("stage", STAGES)
def test_lines_fit_the_width(stage: str, width: int) -> None:
    lines = [line.text for line in status_lines(status_of(STAGES[stage]), width)]
    assert not [line for line in lines if len(line) > width]
    assert lines[0]


def test_a_command_in_several_lines_is_the_same_to_a_shell() -> None:
    lines = [line.text for line in status_lines(status_of(STAGES["dual write"]), 40)]
    shell = "for word in " + "\n".join(lines[lines.index("     bin/zookeeper-shell.sh \\") :][:3])
    words = subprocess.run(
        ["sh", "-c", f"{shell}; do echo $word; done"], capture_output=True, text=True, check=True
    )
    assert words.stdout.split() == [
        "bin/zookeeper-shell.sh",
        "zk1:2181/kafka",
        "delete",
        "/controller",
    ]


def test_a_name_that_fits_no_line_is_divided_at_a_dot_or_the_like() -> None:
    lines = [line.text.strip() for line in status_lines(status_of(STAGES["waiting"]), 40)]
    start = next(line for line in lines if line.endswith("zookeeper.metadata.migration.enable="))
    assert lines[lines.index(start) + 1].startswith("true and their")


def test_what_a_side_does_not_tell_is_said() -> None:
    lines = [line.text for line in status_lines(status_of(STAGES["nothing seen"]), 80)]
    assert "KRaft      not seen, as told below" in lines
    assert "unknown: c1 refused" in lines
    assert "ZooKeeper  not seen, as told below" in lines
    assert "unknown: zk1 refused" in lines


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_a_line_is_printed_for_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    show = ChangeLines()
    for facts in (waiting(0), waiting(0), dual_write(), dual_write(end=52), dual_write(1)):
        show(status_of(facts))
    first, second, third = [line.partition("  ")[2] for line in printed(capsys)]
    assert first.startswith("prepared: the controllers wait, 1 of 2 brokers")
    assert "waits for broker 1" in first
    assert second.startswith("dual write: 0 of 2 brokers are KRaft brokers; driver DUAL_WRITE")
    assert third.startswith("dual write: 1 of 2 brokers")


def test_a_number_of_records_behind_is_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    lines, objects = ChangeLines(), ChangeObjects()
    for end in (151, 153, 900):
        lines(status_of(dual_write(end=end)))
        objects(status_of(dual_write(end=end)))
    line, document = printed(capsys)
    assert "ZooKeeper is 102 records behind" in line
    assert json.loads(document)["lag"] == 102


def test_an_object_is_printed_for_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    show = ChangeObjects()
    for facts in (dual_write(end=49), dual_write(end=49), finalised()):
        show(status_of(facts))
    objects = [json.loads(line) for line in printed(capsys)]
    assert [item["stage"] for item in objects] == ["hybrid", "finalised"]
    assert objects[0]["lag"] == 0


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 12), (20, 2)])
def test_the_screen_is_never_overfull_and_says_how_to_leave(width: int, height: int) -> None:
    lines = drawn(status_of(waiting(0)), width, height).plain.splitlines()
    assert len(lines) <= height
    assert lines[-1].endswith("Ctrl-C ends")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (80, 30), (40, 30)])
def test_a_screen_that_is_cut_says_how_many_lines_follow(width: int, height: int) -> None:
    status = status_of(dual_write(1))
    whole = [line.text for line in status_lines(status, width)]
    *shown, more, _ = drawn(status, width, height).plain.splitlines()
    assert shown == whole[: height - 2]
    assert more == f"{len(whole) - len(shown)} more lines: kwire migration status"
    assert len(more) <= width


def test_a_screen_with_room_for_all_says_nothing_of_more_lines() -> None:
    status = status_of(dual_write(1))
    whole = [line.text for line in status_lines(status, 80)]
    assert drawn(status, 80, len(whole) + 1).plain.splitlines()[:-1] == whole


def test_a_watch_ends_soon_after_its_output_was_closed() -> None:
    """Nobody listens at the address: each look fails at once, and nothing changes any more."""
    watch = [str(KWIRE), "migration", "watch", "--zookeeper", f"127.0.0.1:{free_port()}"]
    process = subprocess.Popen([*watch, "--every", "3600"], stdout=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        assert b"not known" in process.stdout.readline()
        process.stdout.close()
        try:
            assert process.wait(60) == 0
        finally:
            process.kill()


class Enough(Exception):
    """The end of a watch that would go on."""


async def test_a_side_that_is_lost_is_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = iter([ZooKeeperUnreachable("zk1 refused"), None])

    async def connect(settings: ZooKeeperSettings) -> ZooKeeper:
        if failure := next(attempts):
            raise failure
        return golden_zookeeper("before").open_session()

    monkeypatch.setattr(KazooZooKeeper, "connect", connect)
    seen: list[MigrationStatus] = []

    def show(status: MigrationStatus) -> None:
        seen.append(replace(status))
        if len(seen) == 2:
            raise Enough

    with pytest.raises(Enough):
        await follow(MigrationOptions(zookeeper="zk1:2181"), show, 0.0)
    assert seen[0].facts.no_zookeeper == "zk1 refused"
    assert seen[1].facts.zookeeper is not None
