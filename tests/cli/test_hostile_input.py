"""Commands and hostile input: control sequences from a peer, times that are no numbers."""

import os
import subprocess

import pytest

from kwire.cli.output import error_document
from kwire.errors import DecodeError
from kwire.messages import a19_create_topics as creation
from kwire.messages import a60_describe_cluster as cluster
from real_kafka import free_port
from tests.support.cli.command import KWIRE, Command
from tests.support.cli.scripted_cluster import scripted_cluster

HOSTILE = "\x1b[2J\x9b31m\nError: all is well\u202e"


def test_a_node_s_message_commands_no_terminal(kwire: Command) -> None:
    with scripted_cluster() as brokers:
        brokers.nodes[0].scripts[cluster.DescribeClusterRequest] = lambda request: (
            cluster.DescribeClusterResponse(error_code=42, error_message=HOSTILE)
        )
        run = kwire("topics", "list", "--bootstrap-server", brokers.addresses[0])
    assert run.code == 1
    assert run.error == (r"INVALID_REQUEST: \x1b[2J\x9b31m\nError: all is well\u202e")


def test_the_message_of_an_answer_that_cannot_be_read_is_its_sentence() -> None:
    error = DecodeError("ends early", message="MetadataResponse", version=12, offset=7)
    assert error_document(error) == {
        "error": "DECODE_ERROR",
        "message": "MetadataResponse v12 at byte 7: ends early",
    }


@pytest.mark.parametrize("seconds", ["nan", "inf"])
@pytest.mark.parametrize(
    "command",
    [
        ("topics", "list", "--timeout"),
        ("quorum", "status", "--watch"),
        ("export", "--timeout"),
        ("shell", "--timeout"),
        ("exporter", "--interval"),
    ],
)
def test_seconds_are_a_finite_number(
    kwire: Command, command: tuple[str, ...], seconds: str
) -> None:
    run = kwire(*command, seconds)
    assert run.code == 2
    assert f"{seconds} is no number of seconds" in run.err


@pytest.mark.parametrize(("code", "exit_code"), [(0, 0), (42, 1)])
def test_a_reader_that_goes_away_changes_no_exit_code(code: int, exit_code: int) -> None:
    with scripted_cluster() as brokers:
        brokers.nodes[0].scripts[creation.CreateTopicsRequest] = lambda request: (
            creation.CreateTopicsResponse(
                topics=[creation.CreatableTopicResult(name="t", error_code=code)]
            )
        )
        reader, writer = os.pipe()
        os.close(reader)
        command = [str(KWIRE), "topics", "create", "t", "--bootstrap-server", brokers.addresses[0]]
        run = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
    assert (run.returncode, run.stderr) == (exit_code, b"")


def test_watching_ends_when_its_reader_has_gone() -> None:
    with scripted_cluster() as brokers:
        brokers.leaders = {("t", 0): 0}
        at = ("--bootstrap-server", brokers.addresses[0])
        reader, writer = os.pipe()
        command = [str(KWIRE), "topics", "describe", "--watch", "0.2", *at]
        watch = subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        assert os.read(reader, 5) == b"Topic"
        os.close(reader)
        _, err = watch.communicate(timeout=60)
    assert (watch.returncode, err) == (0, b"")


def test_a_filter_that_is_no_expression_is_wrong_usage(kwire: Command) -> None:
    at = ("--bootstrap-server", f"127.0.0.1:{free_port()}")
    run = kwire("topics", "list", *at, "--filter", "(")
    assert run.code == 2
    assert "no regular expression" in run.err
