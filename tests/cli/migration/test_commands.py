"""`kwire migration` on the data of a real migration by Kafka 3.9.1."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kwire.cli.migration.verify import progress_text
from kwire.errors import KwireError
from kwire.zookeeper import (
    Create,
    NotAuthorized,
    SetData,
    ZnodeOperation,
    ZooKeeper,
    ZooKeeperAuthenticationFailed,
    ZooKeeperUnreachable,
)
from kwire.zookeeper.errors import ChrootMissing
from kwire.zookeeper.kazoo_client import KazooZooKeeper
from kwire.zookeeper.settings import ZooKeeperSettings
from kwire.zookeeper.znodes import MigrationZnode
from migrating.memory_zookeeper import MemoryZooKeeper
from tests.support.cli.command import Command
from tests.support.migration.golden import ENCODER_SECRET, golden_zookeeper
from tests.support.migration.golden_controller import GoldenController, golden_controller

ZK = ("--zookeeper", "zk1:2181/kafka")
END = {"dual-write": 119, "dual-write-later": 123, "claim": 40}
"""The end of the log at the moment of each dump."""


class Sides:
    """A ZooKeeper with the znodes of a stage behind kazoo's name, and a controller with its log."""

    def __init__(self, controller: GoldenController) -> None:
        self.controller = controller
        self.server = MemoryZooKeeper()
        self.changes: list[ZnodeOperation] = []
        self.settings: list[ZooKeeperSettings] = []
        self.failure: Exception | None = None

    def at(self, stage: str, *changes: ZnodeOperation) -> None:
        """Take the znodes of a stage, and change some."""
        self.server = golden_zookeeper(stage)
        self.changes = list(changes)
        self.controller.end = END.get(stage, 0)

    async def connect(self, settings: ZooKeeperSettings) -> ZooKeeper:
        """Stand for KazooZooKeeper.connect."""
        self.settings.append(settings)
        if self.failure is not None:
            raise self.failure
        session = self.server.open_session()
        await session.multi(self.changes)
        return session

    @property
    def both(self) -> tuple[str, ...]:
        """The options that name both sides."""
        return *ZK, "--bootstrap-controller", self.controller.node.address


@pytest.fixture
def sides(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sides]:
    with golden_controller(0) as controller:
        made = Sides(controller)
        monkeypatch.setattr(KazooZooKeeper, "connect", made.connect)
        yield made


@pytest.fixture
def secret(tmp_path: Path) -> tuple[str, str]:
    file = tmp_path / "secret"
    file.write_text(ENCODER_SECRET)
    return "--password-encoder-secret", str(file)


def test_the_status_of_a_dual_write_has_both_sides(kwire: Command, sides: Sides) -> None:
    sides.at("dual-write")
    run = kwire("migration", "status", *sides.both)
    assert run.code == 0
    lines = run.out.splitlines()
    assert lines[0] == "dual write: 0 of 2 brokers are KRaft brokers"
    assert "KRaft      MIGRATION (1), led by 3000 in epoch 1" in lines
    assert "ZooKeeper  /controller: KRaft controller 3000, epoch 1, /controller_epoch 4" in lines
    assert "           /migration: record 118, by 3000 in epoch 1" in lines
    assert "Driver     DUAL_WRITE: /controller is claimed; /migration follows" in lines
    assert "Behind     0 records" in lines
    assert "  0  ready  migration mode" in lines
    assert "     bin/zookeeper-shell.sh zk1:2181/kafka delete /controller" in lines


def test_the_status_as_an_object(kwire: Command, sides: Sides) -> None:
    sides.at("dual-write")
    document = kwire("migration", "status", *sides.both, "--json").json
    assert (document["stage"], document["lag"]) == ("hybrid", 0)
    assert document["driver"]["state"] == "DUAL_WRITE"
    assert document["kraft"]["state"] == "MIGRATION"
    assert document["zookeeper"]["migration"]["kraftMetadataOffset"] == 118
    assert [item["ready"] for item in document["brokers"]] == [True, True]
    assert document["controllers"][0]["apiVersionsReady"] is True
    assert document["wayBack"]["exists"] is True
    assert document["findings"] == []


def test_zookeeper_alone_tells_what_it_can(kwire: Command, sides: Sides) -> None:
    sides.at("before")
    run = kwire("migration", "status", *ZK)
    assert run.code == 0
    assert run.out.startswith("ZooKeeper mode: no migration has begun\n")
    assert "not asked: give --bootstrap-controller" in run.out


def test_a_side_that_was_asked_for_and_fails_makes_exit_code_1(
    kwire: Command, sides: Sides
) -> None:
    sides.at("before")
    run = kwire("migration", "status", *ZK, "--bootstrap-controller", "127.0.0.1:1", "--json")
    assert run.code == 1
    (finding,) = run.json["findings"]
    assert (finding["id"], finding["verdict"]) == ("sight/no-controllers", "unknown")
    assert run.json["zookeeper"]["brokerIds"] == [0, 1]


def test_a_broken_znode_is_named(kwire: Command, sides: Sides) -> None:
    sides.at("before", SetData("/controller", b"{"))
    run = kwire("migration", "status", *ZK)
    assert run.code == 1
    assert "PROBLEM: znode /controller: " in run.out
    assert "  > repair the znode with zookeeper-shell" in run.out


def test_a_clean_verification(kwire: Command, sides: Sides, secret: tuple[str, str]) -> None:
    sides.at("dual-write")
    run = kwire("migration", "verify", *sides.both, *secret)
    assert run.code == 0
    assert run.out.splitlines()[0].startswith(
        "difference/none  ok       both sides hold the same at record 118: 49 entries"
    )


def test_a_difference_has_both_values_and_exit_code_1(
    kwire: Command, sides: Sides, secret: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.migration.operator.verify.PAUSE", 0.0)
    state = b'{"version":1,"leader":1,"leader_epoch":0,"controller_epoch":1,"isr":[1]}'
    sides.at("dual-write", SetData("/brokers/topics/grown/partitions/1/state", state))
    run = kwire("migration", "verify", *sides.both, *secret, "--json")
    assert run.code == 1
    document: Any = run.json
    assert (document["compared"], document["offset"], document["problems"]) == (True, 118, 1)
    fields = {item["field"]: (item["zookeeper"], item["kraft"]) for item in document["differences"]}
    assert fields["isr"] == ([1], [0, 1])
    finding, harmless = document["findings"]
    assert finding["id"] == "difference/changed"
    assert (harmless["id"], harmless["verdict"]) == ("difference/harmless", "info")
    assert (
        "partition grown-1: isr is [1] in ZooKeeper, [0, 1] in the metadata log"
        in (finding["evidence"])
    )


def test_no_secret_is_printed(
    kwire: Command, sides: Sides, secret: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.migration.operator.verify.PAUSE", 0.0)
    sides.at(
        "dual-write",
        SetData("/config/users/alice", b'{"version":1,"config":{}}'),
        SetData("/config/brokers/0", b'{"version":1,"config":{"ssl.key.password":"hush"}}'),
    )
    for form in ("json", "table", "tsv"):
        run = kwire("migration", "verify", *sides.both, *secret, "-o", form)
        assert run.code == 1
        assert "hush" not in run.out
        assert "ScramLoginModule" not in run.out
        assert not re.search(r"stored_key|server_key", run.out)


def test_before_a_copy_zookeeper_alone_is_verified(
    kwire: Command, sides: Sides, secret: tuple[str, str]
) -> None:
    sides.at("before")
    run = kwire("migration", "verify", *ZK, *secret)
    assert run.code == 0
    assert "before/ok" in run.out


def test_a_foreign_migration_is_a_problem_and_the_rest_is_verified(
    kwire: Command, sides: Sides
) -> None:
    sides.at(
        "claim", SetData("/migration", b'{"version":7}'), SetData("/brokers/topics/grown", b"{")
    )
    run = kwire("migration", "verify", *ZK, "--json")
    assert run.code == 1
    found = {item["id"]: item for item in run.json["findings"]}
    assert "znode /migration: " in found["before/foreign-migration"]["sentence"]
    assert found["before/broken-znode"]["evidence"][0].startswith("/brokers/topics/grown: ")


def test_a_copy_is_not_judged_without_the_metadata_log(kwire: Command, sides: Sides) -> None:
    sides.at("dual-write")
    run = kwire("migration", "verify", *ZK, "--json")
    assert run.code == 1
    assert [item["id"] for item in run.json["findings"]] == ["sight/copy-not-compared"]


def test_a_migration_that_was_left_over_is_found_before_there_are_controllers(
    kwire: Command, sides: Sides
) -> None:
    left = MigrationZnode(kraft_metadata_offset=48, kraft_metadata_epoch=4).encode()
    sides.at("before", Create("/migration", left))
    run = kwire("migration", "verify", *ZK, "--json")
    found = {item["id"]: item for item in run.json["findings"]}
    assert run.code == 1
    assert "record 48" in found["before/foreign-migration"]["sentence"]
    assert "before/ok" not in found


def test_controllers_of_another_cluster_are_not_called_finalised_alone(
    kwire: Command, sides: Sides
) -> None:
    sides.at("before", SetData("/cluster/id", b'{"version":"1","id":"another"}'))
    sides.controller.end = END["claim"]
    run = kwire("migration", "verify", *sides.both, "--json")
    assert run.code == 1
    assert "sides/other-cluster" in [item["id"] for item in run.json["findings"]]


@pytest.mark.parametrize("address", ["c1", "@:9093", "3000@:9093", "3000@c1:99999", "x@c1:9093"])
def test_a_controller_of_a_plan_has_an_id_and_an_address(kwire: Command, address: str) -> None:
    run = kwire("migration", "plan", *ZK, "--controller", address)
    assert run.code == 2
    assert "write ID@HOST:PORT" in run.err


def test_verify_needs_zookeeper(kwire: Command) -> None:
    run = kwire("migration", "verify", "--bootstrap-controller", "127.0.0.1:1")
    assert run.code == 2
    assert "give --zookeeper" in run.err


def test_an_unreachable_zookeeper_is_one_sentence(kwire: Command, sides: Sides) -> None:
    sides.failure = ZooKeeperUnreachable("no session with ZooKeeper at zk1:2181: refused")
    run = kwire("migration", "verify", *ZK)
    assert run.code == 1
    assert run.error == (
        "no session with ZooKeeper at zk1:2181: refused; compare --zookeeper with"
        " zookeeper.connect of a broker, and its chroot"
    )


def test_the_sentence_and_the_advice_of_an_unreachable_zookeeper_are_told_once(
    kwire: Command, sides: Sides
) -> None:
    sides.failure = ZooKeeperUnreachable("no session with ZooKeeper at zk1:2181: refused")
    run = kwire("migration", "status", *ZK)
    assert run.code == 1
    assert run.out.count("refused") == 1
    assert run.out.count("zookeeper.connect of a broker") == 1
    assert "ZooKeeper  not seen, as told below" in run.out


@pytest.mark.parametrize(
    "failure",
    [
        lambda: NotAuthorized("/config/users"),
        lambda: ZooKeeperAuthenticationFailed("ZooKeeper at zk1:2181 does not accept it"),
    ],
    ids=["ACL", "login"],
)
@pytest.mark.parametrize("command", ["status", "verify", "plan"])
def test_a_refused_login_names_the_option_and_the_property(
    kwire: Command, sides: Sides, failure: Callable[[], KwireError], command: str
) -> None:
    sides.failure = failure()
    run = kwire("migration", command, *ZK)
    assert run.code == 1
    for name in ("kwire.zookeeper.digest", "in the file of --zookeeper-config"):
        assert (run.out + run.err).count(name) == 1
    assert "zookeeper.connect of a broker" not in run.out + run.err


def test_a_missing_chroot_is_told_with_one_advice(kwire: Command, sides: Sides) -> None:
    sides.failure = ChrootMissing("ZooKeeper at zk1:2181 has no znode /kafka: correct the path")
    assert kwire("migration", "verify", *ZK).error == str(sides.failure)
    assert "compare --zookeeper" not in kwire("migration", "status", *ZK).out


def test_an_empty_zookeeper_is_not_kafkas(kwire: Command, sides: Sides) -> None:
    run = kwire("migration", "verify", *ZK)
    assert run.code == 1
    assert run.error.startswith("ZooKeeper zk1:2181/kafka is not that of a Kafka cluster: ")


def test_a_file_gives_address_and_login(kwire: Command, sides: Sides, tmp_path: Path) -> None:
    sides.at("before")
    file = tmp_path / "server.properties"
    file.write_text("zookeeper.connect=zk9:2181/x\nkwire.zookeeper.digest=user:hush\n")
    assert kwire("migration", "status", "--zookeeper-config", str(file)).code == 0
    (settings,) = sides.settings
    assert (settings.servers, settings.chroot) == ("zk9:2181", "/x")
    assert settings.digest == ("user", "hush")


@pytest.mark.parametrize(
    ("login", "advice"),
    [
        ("", "give it a login in the file of --zookeeper-config: java.security.auth.login"),
        (
            "kwire.zookeeper.digest=user:hush",
            "correct kwire.zookeeper.digest in the file of --zookeeper-config",
        ),
        ("java.security.auth.login.config={file}", "correct section Client of {file}"),
    ],
    ids=["none", "digest", "sasl"],
)
def test_refused_credentials_are_told_with_what_to_do(
    kwire: Command, sides: Sides, tmp_path: Path, login: str, advice: str
) -> None:
    jaas = tmp_path / "jaas.conf"
    jaas.write_text('Client { DigestLoginModule required username="user" password="hush"; };')
    file = tmp_path / "server.properties"
    file.write_text(login.format(file=jaas))
    sides.failure = ZooKeeperAuthenticationFailed("ZooKeeper does not accept the credentials")
    run = kwire("migration", "verify", *ZK, "--zookeeper-config", str(file))
    assert run.code == 1
    expected = f"ZooKeeper does not accept the credentials; {advice.format(file=jaas)}"
    assert expected in run.error
    assert "hush" not in run.error


def test_the_timeout_bounds_the_session_and_what_refuses_is_not_tried_again(
    kwire: Command, sides: Sides
) -> None:
    """kazoo gives up a server that is silent for two thirds of the session's timeout."""
    sides.at("before")
    for options in ((), ("--timeout", "4")):
        assert kwire("migration", "status", *ZK, *options).code == 0
    seconds = [(item.connection_seconds, item.session_seconds) for item in sides.settings]
    assert seconds == [(60.0, 18.0), (4.0, 6.0)]
    assert not any(item.retries_refused for item in sides.settings)


def test_a_wrong_address_is_wrong_usage(kwire: Command) -> None:
    run = kwire("migration", "status", "--zookeeper", "zk1:port")
    assert run.code == 2


def test_a_plan_is_written_once_and_asks_before_it_overwrites(
    kwire: Command, sides: Sides, tmp_path: Path
) -> None:
    sides.at("before")
    plan = ("migration", "plan", *ZK, "--controller", "3000@c1:9093", "--into", str(tmp_path / "p"))
    run = kwire(*plan)
    assert run.code == 0
    text = (tmp_path / "p" / "2-brokers-in-migration-mode" / "broker-0.properties").read_text()
    assert "controller.quorum.voters=3000@c1:9093" in text
    assert "Check this: the broker did not tell its configuration" in text
    assert "SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT" in text
    again = kwire(*plan)
    assert again.code == 2
    assert "would be overwritten" in again.err
    assert kwire(*plan, "--yes").code == 0


def test_a_plan_for_which_there_is_no_room_leaves_the_old_one(
    kwire: Command, sides: Sides, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides.at("before")
    plan = ("migration", "plan", *ZK, "--into", str(tmp_path))
    assert kwire(*plan).code == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}

    def no_room(path: Path, *args: object, **options: object) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", no_room)
    run = kwire(*plan, "--yes")
    assert run.code == 1
    assert f"{tmp_path / 'ORDER.txt'} cannot be written: No space left on device" in run.err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_a_plan_needs_the_chroot(kwire: Command, sides: Sides) -> None:
    run = kwire("migration", "plan", *ZK)
    assert run.code == 1
    assert "is not that of a Kafka cluster" in run.err


def test_a_plan_on_the_screen_has_its_steps_in_order(kwire: Command, sides: Sides) -> None:
    sides.at("before")
    run = kwire("migration", "plan", *ZK, "--controller", "3000@c1:9093")
    titles = re.findall(r"^(\S+): ", run.out, re.MULTILINE)
    assert titles == [
        "1-controllers",
        "2-brokers-in-migration-mode",
        "3-brokers-as-kraft",
        "4-finalisation",
        "back-from-dual-write",
        "back-from-kraft-brokers",
    ]


def test_a_plan_warns_of_what_the_copy_fails_at(kwire: Command, sides: Sides) -> None:
    sides.at("before", SetData("/latest_producer_id_block", b""))
    run = kwire("migration", "plan", *ZK, "--controller", "3000@c1:9093")
    assert run.code == 0
    assert (
        "Warning: /latest_producer_id_block is empty, and not null: with zookeeper-shell"
        in " ".join(run.err.split())
    )


@pytest.mark.parametrize("controller", ["c1:9093", "3000@c1", "x@c1:9093"])
def test_a_controller_needs_an_id_and_an_address(kwire: Command, controller: str) -> None:
    run = kwire("migration", "plan", *ZK, "--controller", controller)
    assert run.code == 2
    assert "write ID@HOST:PORT" in run.err


def test_each_node_of_a_plan_has_an_id_of_its_own(kwire: Command, sides: Sides) -> None:
    sides.at("before")
    twice = ("--controller", "3000@c1:9093", "--controller", "3000@c2:9093")
    for options, sentence in (
        (twice, "two have the same id"),
        (("--controller", "1@c1:9093"), "a controller cannot have id 1: broker 1 has it"),
    ):
        run = kwire("migration", "plan", *ZK, *options)
        assert run.code == 2
        assert sentence in run.err


def test_progress_has_no_number_that_means_nothing() -> None:
    texts = [progress_text("topics", 3, 20), progress_text("tokens", 0, 0)]
    assert texts == ["topics 3/20", "tokens: none"]
