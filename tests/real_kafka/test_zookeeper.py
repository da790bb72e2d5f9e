"""A real ZooKeeper starts, keeps its znodes through kills and pauses, and wants logins if told to.

Kafka's own client of it is asked: the shell org.apache.zookeeper.ZooKeeperMain.
"""

import os
from collections.abc import Iterator

import pytest

from kwire.testing.local_kafka.errors import NodeFailed
from kwire.testing.local_kafka.jars import class_path
from kwire.testing.local_kafka.local import java
from kwire.testing.local_kafka.local_site import run_tool
from real_kafka import Launcher
from real_kafka.zookeeper import ZooKeeperServer, four_letter_word

SHELL = "org.apache.zookeeper.ZooKeeperMain"


@pytest.fixture
def zookeeper(kafka: Launcher) -> Iterator[ZooKeeperServer]:
    with ZooKeeperServer() as server:
        yield server


def shell(server: ZooKeeperServer, *command: str, options: tuple[str, ...] = ()) -> str:
    jars = os.pathsep.join(map(str, class_path("3.9.1")))
    arguments = [*options, SHELL, "-timeout", "4000", "-server", server.connect, *command]
    ran = run_tool(str(java()), jars, arguments, 60)
    return ran.stdout + ran.stderr


def test_znodes_outlive_a_kill_and_a_restart(zookeeper: ZooKeeperServer) -> None:
    shell(zookeeper, "create", "/kept", "content")
    zookeeper.kill()
    assert not zookeeper.alive
    zookeeper.start()
    assert "content" in shell(zookeeper, "get", "/kept")
    zookeeper.stop()
    zookeeper.start()
    assert "content" in shell(zookeeper, "get", "/kept")


def test_a_suspended_server_answers_when_it_is_resumed(zookeeper: ZooKeeperServer) -> None:
    zookeeper.suspend()
    assert four_letter_word(zookeeper.address, "ruok") == ""
    zookeeper.resume()
    assert four_letter_word(zookeeper.address, "ruok") == "imok"
    assert "Mode: standalone" in four_letter_word(zookeeper.address, "srvr")


def test_a_server_with_a_password_lets_in_who_logs_in(kafka: Launcher) -> None:
    with ZooKeeperServer(user="kafka", password="its-password") as server:
        login = f"-Djava.security.auth.login.config={server.jaas_file}"
        assert "[zookeeper]" in shell(server, "ls", "/", options=(login,))
        assert "[zookeeper]" not in shell(server, "ls", "/")


def test_a_server_that_cannot_start_says_why(kafka: Launcher) -> None:
    server = ZooKeeperServer()
    try:
        server.port = 99_999
        with pytest.raises(NodeFailed, match=r"(?s)ZooKeeper ended with \d+ .*port out of range"):
            server.start()
    finally:
        server.close()
