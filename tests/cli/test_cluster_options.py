"""The options of every command of a cluster: whom they name, and what wins."""

from pathlib import Path

import pytest

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, TimeLimits, asks_cluster
from kwire.cli.output import Output
from kwire.cli.profiles import Profile
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.timeouts import Timeouts
from real_kafka import free_port
from scripted_node import SILENCE
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of profiles, which does not exist yet."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("KWIRE_CONFIG", str(path))
    return path


def test_with_both_kinds_of_nodes_in_a_profile_the_operation_chooses(
    kwire: Command, profiles: Path
) -> None:
    dead = f"127.0.0.1:{free_port()}"
    with scripted_cluster() as brokers:
        brokers.leaders = {("orders", 0): 0}
        profiles.write_text(
            f'[profiles.both]\nbootstrap_servers = "{brokers.addresses[0]}"\n'
            f'bootstrap_controllers = "{dead}"\n'
        )
        assert kwire("topics", "list", "-P", "both", "-o", "name").out == "orders\n"
        status = kwire("quorum", "status", "-P", "both")
    assert status.code == 1
    assert dead in status.error


def test_an_option_wins_over_the_profile(kwire: Command, profiles: Path) -> None:
    profiles.write_text('[profiles.a]\nbootstrap_servers = "127.0.0.1:1"\ntimeout = 1\n')
    address = f"127.0.0.1:{free_port()}"
    run = kwire("topics", "list", "-P", "a", "--bootstrap-server", address)
    assert address in run.error


def test_limits_of_time_come_from_options_then_the_profile_then_the_properties(
    tmp_path: Path,
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "default.api.timeout.ms=90000\nrequest.timeout.ms=45000\n"
        "socket.connection.setup.timeout.ms=2500\n"
    )
    assert TimeLimits().chosen(Profile(), file) == Timeouts(operation=90, request=45, connect=2.5)
    limits = TimeLimits(timeout=100.0).chosen(Profile(request_timeout=20.0), file)
    assert limits == Timeouts(operation=100, request=20, connect=2.5)
    assert TimeLimits().chosen(Profile(), None) == Timeouts()


def test_a_slow_login_is_waited_for_as_the_options_say(kwire: Command) -> None:
    with scripted_cluster() as brokers:
        brokers.nodes[0].scripts[ApiVersionsRequest] = lambda request: SILENCE
        run = kwire("topics", "list", "--timeout", "0.6", "--request-timeout", "0.2", *at(brokers))
    assert "did not answer ApiVersions within 0." in run.error
    assert "it is slow, or no Kafka listener, or it wants TLS" in run.error
    assert len(brokers.nodes[0].requests(ApiVersionsRequest)) > 1


def test_an_error_as_a_whole_is_the_one_json_object_and_a_sentence(kwire: Command) -> None:
    run = kwire("topics", "list", "--bootstrap-server", f"127.0.0.1:{free_port()}", "--json")
    assert run.code == 1
    assert run.json["error"] == "CONNECTION_FAILED"
    assert run.json["message"] == run.error


@pytest.mark.parametrize(
    ("row", "help"),
    [
        (registry.DESCRIBE_METADATA_QUORUM, "Ask these controllers directly (KIP-919)"),
        (registry.CREATE_TOPICS, "needs --allow-unlisted"),
        (registry.LIST_TOPICS, "Read the metadata log of these controllers"),
    ],
)
def test_the_help_says_what_controllers_do_with_it(
    kwire: Command, row: registry.OperationRow, help: str
) -> None:
    printed = " ".join(kwire(*row.command.split(), "--help").out.split())
    assert help in printed


def test_a_command_that_controllers_do_not_serve_hides_the_option(kwire: Command) -> None:
    assert "--bootstrap-controller" not in kwire("groups", "list", "--help").out
    run = kwire("groups", "list", "--bootstrap-controller", f"127.0.0.1:{free_port()}")
    assert run.code == 1
    assert "controllers do not serve ListGroups" in run.error


def test_the_decorated_command_has_its_own_parameters_first() -> None:
    @asks_cluster(registry.LIST_TOPICS)
    def command(cluster: ClusterOptions, output: Output, name: str, wide: bool = False) -> None:
        """Do nothing."""

    import inspect

    names = list(inspect.signature(command).parameters)
    assert names[:3] == ["name", "wide", "bootstrap_server"]
    assert "allow_unlisted" not in names
