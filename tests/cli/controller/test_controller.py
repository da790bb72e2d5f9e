"""`kwire controller` runs controllers in the foreground and ends them in order."""

import asyncio
import os
import re
import resource
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kwire.batches import Record, build_batch
from kwire.codec.declaration import Response
from kwire.error_codes import ErrorCode
from kwire.logdir.log import MetadataLog
from kwire.logdir.names import METADATA_FOLDER
from kwire.logdir.quorum_state import QuorumState, write_quorum_state
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.messages.data.quorum_state_data import QuorumStateData
from kwire.net.connection import Connection
from kwire.net.quorum_request import quorum_request
from kwire.net.sasl import Credentials, Mechanism
from real_kafka import free_port
from tests.support.cli.command import KWIRE, Command
from tests.support.cli.demo_run import free_ports
from tests.support.eventually import eventually
from tests.support.logdir.batches import NO_OP, batch
from tests.support.paths import ROOT


def properties(folder: Path, more: str = "") -> Path:
    port = free_port()
    file = folder / "server.properties"
    file.write_text(
        "process.roles=controller\nnode.id=3000\n"
        f"log.dirs={folder}/data\nlisteners=CONTROLLER://127.0.0.1:{port}\n"
        "controller.listener.names=CONTROLLER\n"
        f"controller.quorum.bootstrap.servers=127.0.0.1:{port}\n{more}"
    )
    return file


def limit_files() -> None:
    """Let no file of this process grow beyond 16 KiB, as on a disk that is nearly full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))


def test_a_quorum_on_a_full_disk_ends_and_says_why(tmp_path: Path) -> None:
    command = [str(KWIRE), "controller", "quorum", "-n", "3"]
    often = ["--property", "metadata.max.idle.interval.ms=5"]
    done = subprocess.run(
        [*command, *often],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        preexec_fn=limit_files,
    )
    assert done.returncode == 1
    assert "bootstrap.servers=" in done.stdout
    assert re.search(r"Error: .*__cluster_metadata-0.*File too large", done.stderr)
    assert list(tmp_path.iterdir()) == []


def format_of(file: Path) -> tuple[str, ...]:
    return ("storage", "format", "-c", str(file), "-t", "a-cluster", "--standalone")


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    """Return the process's stderr up to a line with this text."""
    assert process.stderr
    said = ""
    for line in process.stderr:
        said += line
        if text in line:
            return said
    raise AssertionError(f"it ended without {text!r}: {said}")


def test_a_directory_must_be_formatted_first(kwire: Command, tmp_path: Path) -> None:
    run = kwire("controller", "run", str(properties(tmp_path)))
    assert run.code == 1
    assert run.error == f"{tmp_path}/data is not formatted: run `kwire storage format` first"


@pytest.fixture
def led(kwire: Command, tmp_path: Path) -> Path:
    """The server.properties of a node whose log has three batches of one epoch."""
    file = properties(tmp_path)
    assert kwire(*format_of(file)).code == 0
    log = tmp_path / "data" / METADATA_FOLDER
    data = QuorumStateData(leader_id=3000, leader_epoch=1, voted_id=-1)
    write_quorum_state(log, QuorumState(data=data, version=1))
    with MetadataLog.open(log) as opened:
        for offset in range(3):
            opened.append(batch(offset))
    return file


def refusal(kwire: Command, file: Path) -> str:
    """Run a controller that refuses to; return what it says."""
    run = kwire("controller", "run", str(file))
    assert run.code == 1
    assert not re.search("Traceback|never retrieved|report it", run.err), run.err
    return run.error


@pytest.mark.parametrize("lost", ["00000000000000000000.log", "quorum-state"])
def test_a_log_or_votes_that_are_gone_are_told_and_so_is_how_to_go_on(
    kwire: Command, led: Path, tmp_path: Path, lost: str
) -> None:
    log = tmp_path / "data" / METADATA_FOLDER
    assert kwire("storage", "info", "-c", str(led)).code == 0
    (log / lost).unlink()

    said = refusal(kwire, led)

    assert f"{log}/" in said
    assert "to go on" in said
    info, dump = kwire("storage", "info", "-c", str(led)), kwire("log", "dump", str(log))
    assert info.code == dump.code == 1
    assert said in info.out
    assert said in dump.err


def test_a_record_that_cannot_be_read_is_told_with_its_file_and_offset(
    kwire: Command, led: Path, tmp_path: Path
) -> None:
    log = tmp_path / "data" / METADATA_FOLDER
    records = [Record(value=value, timestamp=1) for value in (NO_OP.encode(), b"\x01\x02\x00\xff")]
    with MetadataLog.open(log) as opened:
        position = opened.size
        opened.append(build_batch(records, base_offset=3, partition_leader_epoch=1))
    said = refusal(kwire, led)
    segment = log / "00000000000000000000.log"
    assert said.startswith(f"{segment}, byte {position}: the record at offset 4: TopicRecord v0")


def test_a_file_without_a_meaning_is_named(kwire: Command, tmp_path: Path) -> None:
    file = properties(tmp_path, "controller.quorum.fetch.timeout.ms=soon\n")
    run = kwire("controller", "run", str(file))
    assert run.code == 1
    assert run.error.startswith(f"{file}: controller.quorum.fetch.timeout.ms is 'soon'")


def test_a_formatted_controller_leads_and_ends_at_sigterm(kwire: Command, tmp_path: Path) -> None:
    file = properties(tmp_path, "num.io.threads=8\n")
    assert kwire(*format_of(file)).code == 0
    with subprocess.Popen(
        [KWIRE, "controller", "run", str(file)], stdout=PIPE, stderr=PIPE, text=True
    ) as run:
        said = wait_for(run, "controller 3000 leads")
        assert "not taken by kwire: num.io.threads" in said
        run.send_signal(signal.SIGTERM)
        rest = run.communicate(timeout=60)[1]
    assert run.returncode == 0, rest
    assert "Traceback" not in rest


def documented(text: str) -> tuple[str, str]:
    """The two commands that format and run a controller, as a page shows them."""
    lines = [line.strip() for line in re.sub(r"\\\n\s*", "", text).splitlines()]
    formats = [line for line in lines if line.startswith("kwire storage format")]
    runs = [line for line in lines if line == "kwire controller run server.properties"]
    assert len(formats) == len(runs) == 1, (formats, runs)
    return formats[0], runs[0]


async def active(where: str) -> None:
    """Wait until a controller judges requests, which only the active one does."""
    host, _, port = where.partition(":")
    topic = CreatableTopic(name="t", num_partitions=1, replication_factor=1)
    async with await Connection.open(host, int(port)) as connection:
        request = CreateTopicsRequest(topics=[topic], timeout_ms=5000)

        def judged(answer: Response) -> bool:
            assert isinstance(answer, CreateTopicsResponse)
            code = answer.topics[0].error_code
            assert code in (ErrorCode.INVALID_REPLICATION_FACTOR, ErrorCode.NOT_CONTROLLER)
            return code == ErrorCode.INVALID_REPLICATION_FACTOR

        await eventually(lambda: connection.send(request), judged)


@pytest.mark.parametrize("page", ["docs/engineers/controller.md", "kwire controller run --help"])
def test_the_documented_commands_make_a_controller_that_leads(
    kwire: Command, tmp_path: Path, page: str
) -> None:
    """Without the feature's level the controller resigned for ever."""
    is_help = page.startswith("kwire")
    text = kwire(*page.split()[1:]).out if is_help else (ROOT / page).read_text()
    format_, run_ = documented(text)
    file = properties(tmp_path)
    where = file.read_text().rpartition("=")[2].strip()
    path = {**os.environ, "PATH": f"{Path(KWIRE).parent}{os.pathsep}{os.environ['PATH']}"}

    subprocess.run(["bash", "-ec", format_], cwd=tmp_path, env=path, check=True)
    with subprocess.Popen(
        ["bash", "-ec", f"exec {run_}"], cwd=tmp_path, env=path, stderr=PIPE, text=True
    ) as run:
        wait_for(run, "controller 3000 leads")
        asyncio.run(active(where))
        run.send_signal(signal.SIGTERM)
        rest = run.communicate(timeout=60)[1]
    assert run.returncode == 0, rest
    assert "resigns" not in rest


def test_a_directory_that_kwire_cannot_lead_is_refused_at_the_start(
    kwire: Command, tmp_path: Path
) -> None:
    """A migration at a metadata.version that no broker with ZooKeeper has (KIP-866)."""
    enabled = "zookeeper.metadata.migration.enable=true\nzookeeper.connect=127.0.0.1:2181\n"
    file = properties(tmp_path, enabled)
    assert kwire(*format_of(file)).code == 0

    run = kwire("controller", "run", str(file))

    assert run.code == 1
    assert run.error == (
        "zookeeper.metadata.migration.enable is true, but at metadata.version 4.3-IV0 no broker can"
        " migrate from ZooKeeper: format the directories of all controllers with the brokers'"
        " inter.broker.protocol.version, such as"
        " `kwire storage format --release-version 3.9`"
    )


def test_a_migration_without_an_address_of_zookeeper_is_refused(
    kwire: Command, tmp_path: Path
) -> None:
    file = properties(tmp_path, "zookeeper.metadata.migration.enable=true\n")
    assert kwire(*format_of(file)).code == 0

    run = kwire("controller", "run", str(file))

    assert run.code == 1
    assert run.error == (f"{file}: zookeeper.connect is missing: write host:port,host:port/chroot")


def test_a_quorum_says_how_to_join_it_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ports = free_ports(3)
    with subprocess.Popen(
        [str(KWIRE), "controller", "quorum", "-n", "3", "--ports", str(ports)],
        env=environment,
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    ) as run:
        assert run.stdout
        told = "".join(run.stdout.readline() for _ in range(3))
        addresses = ",".join(f"127.0.0.1:{port}" for port in range(ports, ports + 3))
        assert f"bootstrap.servers={addresses}\n" in told
        assert len(list(tmp_path.glob("kwire-quorum-*/node-300*"))) == 3
        run.send_signal(signal.SIGINT)
        rest = run.communicate(timeout=60)[1]
    assert run.returncode == 130, rest
    assert "Traceback" not in rest
    assert list(tmp_path.glob("kwire-quorum-*")) == []


def test_metrics_are_scraped_from_the_command_that_runs(kwire: Command, tmp_path: Path) -> None:
    file = properties(tmp_path)
    assert kwire(*format_of(file)).code == 0
    with subprocess.Popen(
        [KWIRE, "controller", "run", str(file), "--metrics", "127.0.0.1:0"],
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    ) as run:
        said = wait_for(run, "controller 3000 leads")
        where = re.search(r"metrics are at (http://127\.0\.0\.1:\d+/metrics)", said)
        assert where
        with urlopen(where[1], timeout=60) as answer:
            kind, text = answer.headers["Content-Type"], answer.read().decode()
        run.send_signal(signal.SIGTERM)
        rest = run.communicate(timeout=60)[1]
    assert kind.startswith("text/plain")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    leader = families["kafka_server_raft_metrics_current_leader"].samples
    assert [(one.labels, one.value) for one in leader] == [({"node_id": "3000"}, 3000)]
    assert "kafka_network_requestmetrics_requests" in families
    assert run.returncode == 0, rest
    with pytest.raises(URLError):
        urlopen(where[1], timeout=60)


@pytest.mark.parametrize("command", [("run", "server.properties"), ("quorum",)])
def test_metrics_need_an_address(kwire: Command, command: tuple[str, ...]) -> None:
    run = kwire("controller", *command, "--metrics", "9404")
    assert run.code == 2
    assert "--metrics: '9404' is no address: write host:port" in run.error


def test_a_folder_that_has_nodes_is_left_alone(kwire: Command, tmp_path: Path) -> None:
    (tmp_path / "node-3000").mkdir()
    run = kwire("controller", "quorum", "--folder", str(tmp_path))
    assert run.code == 1
    assert "has nodes already" in run.error


SECURE = [
    "listener.security.protocol.map=CONTROLLER:SASL_PLAINTEXT",
    "sasl.mechanism.controller.protocol=SCRAM-SHA-256",
    "listener.name.controller.sasl.enabled.mechanisms=SCRAM-SHA-256",
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:admin",
]


LOGIN = (
    "listener.name.controller.scram-sha-256.sasl.jaas.config=ScramLoginModule required"
    ' username="admin" password="adm1n-pw";'
)


async def codes_of(where: str, user: str, password: str) -> int:
    """The error of a look at the quorum, by somebody who logs in."""
    host, _, port = where.partition(":")
    login = Credentials(mechanism=Mechanism.SCRAM_SHA_256, username=user, password=password)
    async with await Connection.open(host, int(port), sasl=login) as connection:
        answer = await connection.send(quorum_request())
    assert isinstance(answer, DescribeQuorumResponse)
    return answer.error_code


def test_one_line_starts_a_quorum_with_sasl_and_an_authorizer(tmp_path: Path) -> None:
    users, login = tmp_path / "users", tmp_path / "login.properties"
    names = ("admin", "alice")
    lines = [f"SCRAM-SHA-256=[name={name},password={name[:3]}1n-pw]\n" for name in names]
    users.write_text("\n".join(lines))
    login.write_text(LOGIN)
    options = [part for text in SECURE for part in ("--property", text)]
    options += ["--properties", str(login), "--add-scram-file", str(users)]
    with subprocess.Popen(
        [KWIRE, "controller", "quorum", "-n", "2", *options], stdout=PIPE, stderr=PIPE, text=True
    ) as run:
        assert run.stdout
        told = "".join(run.stdout.readline() for _ in range(3))
        found = re.search(r"bootstrap\.servers=([\d.:]+)", told)
        assert found
        assert asyncio.run(codes_of(found[1], "admin", "adm1n-pw")) == 0
        denied = asyncio.run(codes_of(found[1], "alice", "ali1n-pw"))
        assert denied == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        run.send_signal(signal.SIGINT)
        rest = run.communicate(timeout=60)[1]
    assert run.returncode == 130, rest
    assert "1n-pw" not in told + rest


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--property", "colour"], "--property: write NAME=VALUE, as super.users=User:admin."),
        (["--property", "node.id=7"], "--property: every node has its own node.id."),
        (["--property", "super.users=admin", "--property", SECURE[3]], "is not type:name"),
        (["--property", SECURE[0]], "GSSAPI is not supported, but PLAIN"),
        (["--property", LOGIN], "is secret, and every user of this machine sees arguments"),
        (["--add-scram-file", "-"], "--add-scram-file: a SCRAM credential is of SCRAM-SHA-256"),
        (["--add-scram", "…=[name=a,password=adm1n-pw]"], "No such option: --add-scram"),
    ],
)
def test_wrong_settings_of_a_quorum_are_wrong_usage(
    kwire: Command, options: list[str], told: str
) -> None:
    run = kwire("controller", "quorum", *options, stdin=b"alice\n")
    assert run.code == 2
    assert told in run.error
    assert "adm1n-pw" not in run.err
