"""`kwire apply` at a quorum of kwire's own, with a broker that only registers."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.testing.background import BackgroundQuorum
from simulated_broker import SimulatedBroker
from tests.support.cli.command import Command
from tests.support.cli.terminal import ended, session

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "broker.session.timeout.ms": "3600000",
}
SALTED = b64encode(hashlib.pbkdf2_hmac("sha256", b"it", b"salt", 4096)).decode()
OTHER = b64encode(hashlib.pbkdf2_hmac("sha256", b"other", b"salt", 4096)).decode()

DOCUMENT = f"""\
version: 1
topics:
- name: orders
  partitions: 2
  replicationFactor: 1
  configs: {{retention.ms: 60000}}
configs:
- {{type: brokers, name: null, configs: {{log.cleaner.threads: 2, ssl.key.password: hunter2}}}}
- {{type: groups, name: billing, configs: {{consumer.session.timeout.ms: 50000}}}}
quotas:
- {{entity: {{user: alice, client-id: null}}, quotas: {{producer_byte_rate: 1000}}}}
scramCredentials:
- user: alice
  mechanism: SCRAM-SHA-256
  iterations: 4096
  salt: {b64encode(b"salt").decode()}
  saltedPassword: {SALTED}
acls:
- principal: User:alice
  permission: ALLOW
  operation: READ
  resourceType: TOPIC
  resourceName: orders
  patternType: PREFIXED
  host: '*'
"""


@pytest.fixture
def quorum() -> Iterator[BackgroundQuorum]:
    """A controller with an authorizer, at an older metadata.version, and a registered broker."""
    with BackgroundQuorum(1, release="4.0", properties=PROPERTIES) as quorum:
        host, port = quorum.bootstrap_controllers.split(":")
        broker = quorum.run(lambda: SimulatedBroker.open(1, host, int(port)))
        yield quorum
        quorum.run(broker.connection.close)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The document above."""
    path = tmp_path / "wanted.yaml"
    path.write_text(DOCUMENT)
    return path


def at(quorum: BackgroundQuorum, *, unlisted: bool = True) -> list[str]:
    more = ["--allow-unlisted"] * unlisted
    return ["--bootstrap-controller", quorum.bootstrap_controllers, *more]


def test_a_second_call_changes_nothing(
    kwire: Command, quorum: BackgroundQuorum, file: Path, tmp_path: Path
) -> None:
    planned = kwire("apply", str(file), "--plan", *at(quorum))
    assert planned.code == 1
    assert [line.split()[:3] for line in planned.out.splitlines()[1:3]] == [
        ["added", "topics", "orders"],
        ["added", "configs", "brokers"],
    ]
    assert "hunter2" not in planned.out
    applied = kwire("apply", str(file), "--yes", "--json", *at(quorum))
    assert (applied.code, applied.err) == (0, "")
    assert applied.json["equal"]
    assert {change["state"] for change in applied.json["changes"]} == {"applied"}
    assert "hunter2" not in applied.out

    again = kwire("apply", str(file), "--yes", *at(quorum))
    assert again.code == 0
    assert again.out.splitlines() == [
        "nothing to change: the cluster has all of the document",
        "not compared, since the cluster does not show it, and left as it is: configs brokers"
        " <default> ssl.key.password",
    ]
    assert kwire("apply", str(file), "--plan", *at(quorum)).code == 0

    # What the document does not have is left alone, and counted.
    file.write_text("version: 1\ntopics: []\nquotas: []\nacls: []\n")
    empty = kwire("apply", str(file), "--yes", *at(quorum))
    assert empty.code == 0
    assert empty.out.splitlines()[1] == (
        "not in the document, left alone: 1 in topics, 1 in quotas, 1 in acls"
    )

    # An export has no more than the log, and differs from it in nothing.
    exported = tmp_path / "exported.yaml"
    export = ("export", "--bootstrap-controller", quorum.bootstrap_controllers)
    exported.write_text(kwire(*export).out)
    assert kwire("apply", str(exported), "--yes", *at(quorum)).code == 0


def test_what_is_not_done_is_said_and_ends_with_1(
    kwire: Command, quorum: BackgroundQuorum, file: Path
) -> None:
    assert kwire("apply", str(file), "--yes", *at(quorum)).code == 0
    changed = DOCUMENT.replace("partitions: 2", "partitions: 1")
    changed = changed.replace("replicationFactor: 1", "replicationFactor: 2")
    changed = changed.replace("retention.ms: 60000", "retention.ms: soon")
    changed = changed.replace("producer_byte_rate: 1000", "producer_byte_rate: 2000")
    changed = changed.replace(SALTED, OTHER)
    file.write_text(changed + "features: {metadata.version: 26}\n")
    run = kwire("apply", str(file), "--yes", "--json", *at(quorum))
    assert run.code == 1
    states = {(c["section"], c["field"]): c["state"] for c in run.json["changes"]}
    assert states == {
        ("topics", "configs.retention.ms"): "failed",
        ("quotas", "producer_byte_rate"): "applied",
        ("scramCredentials", "saltedPassword"): "applied",
        ("features", "level"): "left",
        ("topics", "partitions"): "left",
        ("topics", "replicationFactor"): "left",
    }
    by_field = {change["field"]: change for change in run.json["changes"]}
    assert by_field["configs.retention.ms"]["error"] == "INVALID_CONFIG"
    assert by_field["configs.retention.ms"]["reason"].endswith("; mend the value in the document")
    assert by_field["partitions"]["reason"].startswith("topics lose no partitions: write")
    assert "only with --features" in by_field["level"]["reason"]
    only = ("--only", "features", "--features", "--yes")
    assert kwire("apply", str(file), *only, *at(quorum)).code == 0
    levels = kwire("features", "describe", "--json", *at(quorum, unlisted=False)).json["features"]
    assert [f["finalizedLevel"] for f in levels if f["feature"] == "metadata.version"] == [26]


def test_a_refusal_for_good_is_not_said_to_need_another_call(
    kwire: Command, quorum: BackgroundQuorum, file: Path
) -> None:
    file.write_text(
        "version: 1\ntopics:\n- {name: 'a b', partitions: 1}\n- {name: c, partitions: 0}\n"
        "configs:\n- {type: brokers, name: '77', configs: {log.cleaner.threads: 2}}\n"
        "features: {strange.version: 3}\n"
    )
    run = kwire("apply", str(file), "--features", "--yes", "--json", *at(quorum))
    assert run.code == 1
    ways_on = {c["name"]: c["reason"].rpartition("; ")[2] for c in run.json["changes"]}
    assert ways_on == {
        "strange.version": "mend that, then call kwire apply again",
        "a b": "mend the name in the document",
        "c": "mend the number in the document",
        "brokers 77": "start the broker, or leave its configs out",
    }


def test_nothing_is_sent_before_all_is_clear(
    kwire: Command, quorum: BackgroundQuorum, file: Path
) -> None:
    unlisted = kwire("apply", str(file), "--yes", *at(quorum, unlisted=False))
    assert unlisted.code == 1
    assert "KIP-919 does not list CreateTopics for controllers" in unlisted.error
    planned = kwire("apply", str(file), "--plan", *at(quorum, unlisted=False))
    assert planned.code == 1
    assert "KIP-919 does not list CreateTopics" in planned.err

    other = "version: 1\ncluster: {id: a-cluster-of-before}\nquotas: []\ntopics:\n" + (
        "- {name: t, partitions: 1}\n"
    )
    file.write_text(other)
    own = quorum.quorum.cluster_id
    refused = kwire("apply", str(file), "--yes", *at(quorum))
    assert (refused.code, refused.error) == (
        2,
        f"the document is of cluster a-cluster-of-before, and this is {own}: to change it, add"
        f" --cluster-id {own}.",
    )
    wrong = kwire("apply", str(file), "--yes", "--cluster-id", "typo", *at(quorum))
    assert (wrong.code, wrong.error) == (2, f"--cluster-id typo: the cluster is {own}.")
    assert kwire("topics", "list", *at(quorum, unlisted=False)).out == "no topics\n"
    assert kwire("apply", str(file), "--yes", "--cluster-id", own, *at(quorum)).code == 0
    listed = kwire("topics", "list", "-o", "name", *at(quorum, unlisted=False))
    assert listed.out == "t\n"


def test_a_read_only_profile_plans_and_changes_nothing(
    kwire: Command,
    quorum: BackgroundQuorum,
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tmp_path / "config.toml"
    monkeypatch.setenv("KWIRE_CONFIG", str(config))
    at = f'bootstrap_controllers = "{quorum.bootstrap_controllers}"'
    config.write_text(f"[profiles.safe]\n{at}\nread_only = true\n")
    planned = kwire("apply", str(file), "--plan", "--only", "quotas", "-P", "safe")
    assert (planned.code, "planned" in planned.out) == (1, True)
    refused = kwire("apply", str(file), "--yes", "--only", "quotas", "-P", "safe")
    assert (refused.code, refused.error) == (
        1,
        "the profile is read-only: take another profile, or --plan",
    )


def test_the_plan_is_shown_before_the_question(
    kwire: Command, quorum: BackgroundQuorum, file: Path
) -> None:
    with session("apply", str(file), *at(quorum)) as (terminal, pid):
        assert "consumer.se" in terminal.shows("Make 6 changes")
        terminal.shows("[y/N]:")
        terminal.type("n\n")
        assert ended(pid) == 1
    assert kwire("topics", "list", *at(quorum, unlisted=False)).out == "no topics\n"


def test_every_mistake_of_a_document_is_told_with_its_line(kwire: Command, file: Path) -> None:
    wrong = DOCUMENT.replace("- name: orders", "- name: orders\n  partitoins: 3")
    file.write_text(f"{wrong}x: 1\n")
    run = kwire("apply", str(file), "--yes", "--bootstrap-controller", "127.0.0.1:1")
    assert run.code == 2
    last = len(file.read_text().splitlines())
    assert f"{file}: line 4: topics[0].partitoins: there is no such key here" in run.err
    assert f"{file}: line {last}: x: there is no such key here" in run.err


@pytest.mark.parametrize(
    ("more", "code"), [(["--plan"], 2), (["--plan", "--json"], 2), (["--yes"], 1)]
)
def test_a_cluster_that_cannot_be_read_is_trouble(
    more: list[str], code: int, kwire: Command, file: Path
) -> None:
    nowhere = ("--bootstrap-controller", "127.0.0.1:1", "--timeout", "0.3")
    run = kwire("apply", str(file), *more, *nowhere)
    assert run.code == code
    if "--json" in more:
        assert json.loads(run.out)["error"] in ("CONNECTION_FAILED", "CONNECT_TIMED_OUT")


def test_sections_that_the_document_lacks_are_wrong_usage(
    kwire: Command, quorum: BackgroundQuorum, file: Path
) -> None:
    file.write_text("version: 1\ntopics: []\n")
    run = kwire("apply", str(file), "--yes", "--only", "acls", *at(quorum))
    assert (run.code, run.error) == (2, f"{file} has no acls.")
