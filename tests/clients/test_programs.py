"""The programs of the clients do at a real broker what `kwire conform --client` asks of them."""

from collections.abc import Mapping

import pytest

from clients.programs import PROGRAMS
from kwire.admin.sync import AdminClient
from kwire.admin.topics import NewTopic
from real_kafka import Cluster
from tests.support.clients.task_outcome import TaskOutcome, run_task
from tests.support.proxy.secure_cluster import PASSWORD, PLAIN_PASSWORD, USER, SecureCluster
from tests.support.real_kafka.own_names import OwnNames

pytestmark = [
    pytest.mark.java,
    pytest.mark.real,
    pytest.mark.nightly,
    pytest.mark.timeout(600),  # some may have to be built
]

SENT = ["acknowledged r0", "acknowledged r1", "acknowledged r2"]
RECEIVED = ["received r0", "received r1", "received r2"]
ADMINISTERED = ["done create", "done list", "done describe 1", "done delete"]
PRINTED = {
    "consume": RECEIVED,
    "group": [*RECEIVED, "committed"],
    "group-consumer": [*RECEIVED, "committed"],
    "admin": ADMINISTERED,
    "controllers": ["done describe 1"],
}
"""Lines that a task prints at a broker with a topic of three records."""

CLASSIC = {"consume", "group", "admin"}
TASKS = {
    "java": {*CLASSIC, "group-consumer", "controllers"},
    "confluent-kafka": {*CLASSIC, "group-consumer"},
    "franz-go": {*CLASSIC, "group-consumer"},
    "sarama": CLASSIC,
    "kafkajs": {"group", "admin"},
    "kafka-python": CLASSIC,
    "aiokafka": CLASSIC,
    "kwire": {"admin", "controllers"},
}
"""Beside those that produce, which all but kwire have."""

TOO_LARGE = {
    "confluent-kafka": "MSG_SIZE_TOO_LARGE",
    "kafka-python": "MESSAGE_SIZE_TOO_LARGE",
    "aiokafka": "MESSAGE_SIZE_TOO_LARGE",
}
"""Names that a client has of its own for MESSAGE_TOO_LARGE."""

LOGINS = {"kafka-python": ("PLAIN", "alice", PLAIN_PASSWORD)}
"""Of a client that does not escape the = and the comma of a user's name in SCRAM."""

PRODUCERS = [client for client in PROGRAMS if client != "kwire"]


@pytest.mark.parametrize("client", PROGRAMS)
def test_a_program_reads_and_administers(
    combined: Cluster, own_name: OwnNames, client: str
) -> None:
    brokers = combined.bootstrap_servers
    topic = own_name("read", at=brokers)
    run_task("java", brokers, "produce", topic=topic)
    outcomes = {}
    for task in PRINTED:
        bootstrap = combined.bootstrap_controllers if task == "controllers" else brokers
        target = own_name("made") if task == "admin" else topic
        group = own_name("group", at=brokers)
        outcomes[task] = run_task(client, bootstrap, task, topic=target, group=group)
    for task, outcome in outcomes.items():
        if task in TASKS[client]:
            assert (outcome.exit_code, outcome.lines) == (0, PRINTED[task]), outcome.errors
        else:
            assert_unsupported(outcome)


@pytest.mark.parametrize("client", PRODUCERS)
def test_a_program_writes_what_it_acknowledges(
    combined: Cluster, own_name: OwnNames, client: str
) -> None:
    brokers = combined.bootstrap_servers
    for task, end in {"produce": [], "burst": [], "transaction": ["committed"]}.items():
        topic = create_topic(brokers, own_name(task, at=brokers))
        outcome = run_task(client, brokers, task, topic=topic, group=own_name("transaction"))
        assert outcome.exit_code == 0, outcome.errors
        assert [*sorted(outcome.lines[:3]), *outcome.lines[3:]] == [*SENT, *end]
        read = run_task("java", brokers, "consume", topic=topic)
        assert sorted(read.lines) == RECEIVED, task


@pytest.mark.parametrize("client", PRODUCERS)
def test_a_program_says_which_record_failed(
    combined: Cluster, own_name: OwnNames, client: str
) -> None:
    brokers = combined.bootstrap_servers
    small = {"max.message.bytes": "1"}
    topic = create_topic(brokers, own_name("small", at=brokers), small)
    outcome = run_task(client, brokers, "produce", topic=topic, records=2)
    assert outcome.exit_code == 1
    name = TOO_LARGE.get(client, "MESSAGE_TOO_LARGE")
    assert outcome.lines == [f"failed r0 {name}", f"failed r1 {name}"]


@pytest.mark.parametrize("client", PROGRAMS)
def test_a_program_logs_in_over_tls(secure: SecureCluster, own_name: OwnNames, client: str) -> None:
    mechanism, user, password = LOGINS.get(client, ("SCRAM-SHA-512", USER, PASSWORD))
    login = {
        "KWIRE_SASL_MECHANISM": mechanism,
        "KWIRE_SASL_USERNAME": user,
        "KWIRE_SASL_PASSWORD": password,
        "KWIRE_TLS_CA": str(secure.authority.path),
    }
    where, topic = secure.node("SASL_TLS"), own_name("login")
    outcome = run_task(client, where, "admin", topic=topic, environment=login)
    assert (outcome.exit_code, outcome.lines) == (0, ADMINISTERED), outcome.errors
    wrong = {**login, "KWIRE_SASL_PASSWORD": "wrong"}
    refused = run_task(client, where, "admin", topic=topic, environment=wrong)
    assert refused.exit_code == 1
    assert [line.split()[0] for line in refused.lines] == ["error"]


def create_topic(brokers: str, topic: str, configs: Mapping[str, str] | None = None) -> str:
    """Create a topic of one partition; return its name."""
    with AdminClient(brokers) as admin:
        admin.create_topics([NewTopic(name=topic, partitions=1, configs=configs or {})]).all()
    return topic


def assert_unsupported(outcome: TaskOutcome) -> None:
    """Assert that a program said that it has no such task."""
    assert outcome.exit_code == 77
    assert len(outcome.lines) == 1
    assert outcome.lines[0].startswith("unsupported ")
