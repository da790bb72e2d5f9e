"""The properties that nodes need in each step of a migration, and each way back (KIP-866).

Kafka's documentation, "ZooKeeper to KRaft Migration", and KafkaConfig.validateValues of 3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from shlex import quote

from kwire.errors import InvalidValue
from kwire.messages.metadata_versions import MetadataVersion, metadata_version
from kwire.migration.operator.plan_files import MigrationStep, PlanFile
from kwire.migration.operator.readiness import ENABLE

VOTERS = "controller.quorum.voters"
NAMES = "controller.listener.names"
PROTOCOLS = "listener.security.protocol.map"
CONNECT = "zookeeper.connect"
VERSION = "inter.broker.protocol.version"
INTER_BROKER = "inter.broker.listener.name"
OF_THE_SESSION = ("zookeeper.set.acl", "zookeeper.ssl.client.enable", "zookeeper.clientCnxnSocket")
"""Properties of a session with ZooKeeper that brokers tell and controllers need alike."""

SESSION_DEFAULTS = ("", "false")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBroker:
    """A broker as ZooKeeper and its own configuration describe it.

    protocols: its listeners with their security protocols. configs: values of its own
    configuration. unknown: why it did not tell them, else empty.
    """

    node_id: int
    protocols: Mapping[str, str] = field(default_factory=dict)
    configs: Mapping[str, str] = field(default_factory=dict)
    unknown: str = ""

    @property
    def inter_broker_listener(self) -> str:
        """The name of the listener for other brokers and for controllers; empty if not known."""
        if self.unknown or not self.configs:
            return ""
        protocol = self.configs.get("security.inter.broker.protocol", "PLAINTEXT")
        return self.configs.get(INTER_BROKER) or protocol

    @property
    def session(self) -> dict[str, str]:
        """The values of `OF_THE_SESSION` that it sets."""
        values = {name: self.configs.get(name, "") for name in OF_THE_SESSION}
        return {name: value for name, value in values.items() if value not in SESSION_DEFAULTS}

    @property
    def metadata_version(self) -> MetadataVersion | None:
        """Its inter.broker.protocol.version; None for one that is older than KRaft's first."""
        try:
            # Kafka takes 3.9.1 for 3.9, too (MetadataVersion.fromVersionString).
            return metadata_version(".".join(self.configs.get(VERSION, "").split(".")[:2]))
        except InvalidValue:
            return None

    @property
    def has_encoder(self) -> bool:
        """True if it encrypts passwords in ZooKeeper."""
        return any(name.startswith("password.encoder.") for name in self.configs)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedController:
    """A controller that is to be. address: `host:port`."""

    node_id: int
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInput:
    """Everything that a plan depends on.

    version: inter.broker.protocol.version, as `3.9`. listener: of the controllers, `CONTROLLER`.
    protocol: its security protocol. zookeeper_config, command_config: files of these options.
    """

    connect: str
    cluster_id: str
    brokers: tuple[PlannedBroker, ...]
    controllers: tuple[PlannedController, ...]
    version: str = ""
    listener: str = "CONTROLLER"
    protocol: str = "PLAINTEXT"
    zookeeper_config: str = ""
    command_config: str = ""

    @property
    def zookeeper_options(self) -> str:
        """The options of `kwire migration` for ZooKeeper."""
        config = f" --zookeeper-config {quote(self.zookeeper_config)}"
        return f"--zookeeper {self.connect}{config if self.zookeeper_config else ''}"

    @property
    def both_options(self) -> str:
        """The options of `kwire migration` for both sides."""
        addresses = ",".join(node.address for node in self.controllers)
        config = f" --command-config {quote(self.command_config)}" if self.command_config else ""
        return f"{self.zookeeper_options} --bootstrap-controller {addresses}{config}"

    @property
    def inter_broker(self) -> dict[str, str]:
        """The listener at which controllers reach brokers, with its protocol; empty if unknown."""
        for broker in self.brokers:
            if name := broker.inter_broker_listener:
                return {name: broker.protocols.get(name, name)}
        return {}

    @property
    def session(self) -> dict[str, str]:
        """The values of `OF_THE_SESSION` that brokers set."""
        return {name: value for broker in self.brokers for name, value in broker.session.items()}

    @property
    def voters(self) -> str:
        """The value of controller.quorum.voters."""
        return ",".join(f"{node.node_id}@{node.address}" for node in self.controllers)


def migration_plan(plan: PlanInput) -> tuple[MigrationStep, ...]:
    """Return the steps in the order in which they are done, then the ways back."""
    return (
        _controllers(plan),
        _migration_mode(plan),
        _kraft_brokers(plan),
        _finalisation(plan),
        _back_from_hybrid(plan),
        _back_from_kraft(plan),
    )


def _controller_files(
    plan: PlanInput,
    add: Callable[[PlannedController], dict[str, str]],
    *,
    remove: tuple[str, ...] = (),
) -> tuple[PlanFile, ...]:
    return tuple(
        PlanFile(
            name=f"controller-{node.node_id}.properties",
            node=f"controller {node.node_id}",
            target="the controller's properties",
            add=add(node),
            remove=remove,
        )
        for node in plan.controllers
    )


def _broker_files(
    plan: PlanInput,
    mode: str,
    add: Callable[[PlannedBroker], dict[str, str]],
    remove: Callable[[PlannedBroker], tuple[str, ...]] = lambda broker: (),
    warning: Callable[[PlannedBroker], str] | None = None,
) -> tuple[PlanFile, ...]:
    return tuple(
        PlanFile(
            name=f"broker-{broker.node_id}.properties",
            node=f"broker {broker.node_id}, {mode}",
            add=add(broker),
            remove=remove(broker),
            warning=(warning or _warning)(broker),
        )
        for broker in plan.brokers
    )


def _controllers(plan: PlanInput) -> MigrationStep:
    files = _controller_files(
        plan, lambda node: _controller_properties(plan, node) | _zookeeper(plan)
    )
    return MigrationStep(
        folder="1-controllers",
        title="Provision the controllers",
        actions=(
            f"kwire migration verify {plan.zookeeper_options}",
            "add log.dirs, and the listeners' TLS, login and authorizer as your brokers have them",
            *_as_the_brokers(plan),
            f"bin/kafka-storage.sh format --cluster-id={quote(plan.cluster_id)}"
            " -c controller-ID.properties",
            "start all controllers; they wait for the brokers",
            f"until each controller is ready: kwire migration status {plan.both_options}",
        ),
        files=files,
    )


def _as_the_brokers(plan: PlanInput) -> Iterator[str]:
    """Yield what controllers need as the brokers have it, and a plan does not know or print."""
    if any(broker.has_encoder for broker in plan.brokers):
        yield "add password.encoder.* as your brokers have it: else passwords are copied encrypted"
    if "zookeeper.ssl.client.enable" in plan.session:
        yield "add zookeeper.ssl.* as your brokers have it"


def _controller_properties(plan: PlanInput, node: PlannedController) -> dict[str, str]:
    port = node.address.rpartition(":")[2]
    return {
        "process.roles": "controller",
        "node.id": str(node.node_id),
        VOTERS: plan.voters,
        NAMES: plan.listener,
        "listeners": f"{plan.listener}://:{port}",
        PROTOCOLS: _protocol_map(plan, plan.inter_broker),
    }


def _zookeeper(plan: PlanInput) -> dict[str, str]:
    version = {VERSION: plan.version} if plan.version else {}
    listener = {INTER_BROKER: "".join(plan.inter_broker)} if plan.inter_broker else {}
    return {ENABLE: "true", CONNECT: plan.connect} | plan.session | listener | version


def _protocol_map(plan: PlanInput, own: Mapping[str, str]) -> str:
    return _mapped({**own, plan.listener: plan.protocol})


def _mapped(protocols: Mapping[str, str]) -> str:
    return ",".join(f"{name}:{protocol}" for name, protocol in protocols.items())


def _migration_mode(plan: PlanInput) -> MigrationStep:
    files = _broker_files(
        plan, "in migration mode", lambda broker: _in_migration_mode(plan, broker)
    )
    return MigrationStep(
        folder="2-brokers-in-migration-mode",
        title="Restart the brokers in migration mode",
        actions=(
            "restart one broker after the other; wait for in-sync replicas in between",
            "with the last one the copy begins by itself, and dual write after it",
            f"until it says dual write: kwire migration watch {plan.both_options}",
            f"kwire migration verify {plan.both_options}",
        ),
        files=files,
    )


def _unknown(broker: PlannedBroker) -> str:
    if not broker.unknown:
        return ""
    return f"the broker did not tell its configuration ({broker.unknown})"


def _warning(broker: PlannedBroker) -> str:
    if broker.unknown:
        return _unknown(broker)
    version = broker.metadata_version
    if VERSION in broker.configs and not (version and version.supports_migration):
        return f"{VERSION} is below 3.4: raise it first, a broker with it does not migrate"
    has_directories = version is not None and version.supports_directory_assignment
    if "," in broker.configs.get("log.dirs", "") and not has_directories:
        return f"several log.dirs need {VERSION} 3.7-IV2 or later"
    return ""


def _in_migration_mode(plan: PlanInput, broker: PlannedBroker) -> dict[str, str]:
    version = broker.configs.get(VERSION, plan.version)
    return {
        # Kafka refuses an id that ZooKeeper generated.
        "broker.id": str(broker.node_id),
        ENABLE: "true",
        VOTERS: plan.voters,
        NAMES: plan.listener,
        PROTOCOLS: _protocol_map(plan, broker.protocols),
        **({VERSION: version} if version else {}),
    }


def _kraft_brokers(plan: PlanInput) -> MigrationStep:
    files = _broker_files(
        plan, "as a KRaft broker", lambda broker: _as_kraft(plan, broker), _of_zookeeper_mode
    )
    return MigrationStep(
        folder="3-brokers-as-kraft",
        title="Restart the brokers as KRaft brokers",
        actions=(
            "keep a copy of each server.properties for the way back",
            "keep log.dirs and listeners as they are; do not format the directories",
            "restart one broker after the other; wait for in-sync replicas in between",
            f"until all are KRaft brokers: kwire migration status {plan.both_options}",
            f"kwire migration verify {plan.both_options}",
        ),
        files=files,
    )


def _as_kraft(plan: PlanInput, broker: PlannedBroker) -> dict[str, str]:
    properties = {
        "process.roles": "broker",
        "node.id": str(broker.node_id),
        VOTERS: plan.voters,
        NAMES: plan.listener,
        PROTOCOLS: _protocol_map(plan, broker.protocols),
    }
    if "AclAuthorizer" in broker.configs.get("authorizer.class.name", ""):
        standard = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        properties["authorizer.class.name"] = standard
    return properties


def _of_zookeeper_mode(broker: PlannedBroker) -> tuple[str, ...]:
    """Return the properties that a KRaft broker refuses or does not need."""
    encoder = ["password.encoder."] if broker.has_encoder else []
    return ("broker.id", "zookeeper.", VERSION, *encoder)


def _finalisation(plan: PlanInput) -> MigrationStep:
    files = _controller_files(
        plan,
        lambda node: _controller_properties(plan, node),
        remove=("zookeeper.", INTER_BROKER, VERSION),
    )
    return MigrationStep(
        folder="4-finalisation",
        title="Finalise: after this there is no way back",
        actions=(
            f"kwire migration verify {plan.both_options}",
            "keep a copy of ZooKeeper's data",
            "restart one controller after the other, the active one last",
            f"until it says finalised: kwire migration status {plan.both_options}",
            "shut ZooKeeper down",
        ),
        files=files,
    )


def _back_from_hybrid(plan: PlanInput) -> MigrationStep:
    files = _broker_files(
        plan,
        "in ZooKeeper mode as before",
        lambda broker: _as_before(plan, broker),
        lambda broker: (ENABLE, VOTERS, NAMES),
        _unknown,
    )
    return MigrationStep(
        folder="back-from-dual-write",
        title="Way back, from the steps 1 and 2",
        actions=(
            "leave action 3 out if a broker has /controller:"
            f" kwire migration status {plan.zookeeper_options}",
            "stop all controllers, with action 3 ready: from here to there nobody is controller",
            f"bin/zookeeper-shell.sh {plan.connect} delete /controller",
            f"bin/zookeeper-shell.sh {plan.connect} get /migration",
            f"bin/zookeeper-shell.sh {plan.connect} delete /migration",
            "restart one broker after the other with these files",
            "delete the controllers' log directories before another try",
        ),
        files=files,
    )


def _as_before(plan: PlanInput, broker: PlannedBroker) -> dict[str, str]:
    """Return what step 2 changed and ZooKeeper mode needs still, or again.

    The version stays: brokers that are restarted one by one must agree on it.
    """
    own = {name: value for name, value in broker.protocols.items() if name != plan.listener}
    properties = {"broker.id": str(broker.node_id)}
    if own:
        properties[PROTOCOLS] = _mapped(own)
    if version := broker.configs.get(VERSION, plan.version):
        properties[VERSION] = version
    return properties


def _back_from_kraft(plan: PlanInput) -> MigrationStep:
    files = _broker_files(
        plan,
        "in migration mode again",
        lambda broker: {
            CONNECT: plan.connect,
            **broker.session,
            **_in_migration_mode(plan, broker),
            **_own_authorizer(broker),
        },
        lambda broker: ("process.roles", "node.id"),
    )
    return MigrationStep(
        folder="back-from-kraft-brokers",
        title="Way back, from step 3",
        actions=(
            "put zookeeper.* and password.encoder.* back, from the copies that step 3 asks for",
            "restart one broker after the other with these files",
            f"until all are in migration mode: kwire migration status {plan.both_options}",
            "then go on with back-from-dual-write",
        ),
        files=files,
    )


def _own_authorizer(broker: PlannedBroker) -> dict[str, str]:
    name = broker.configs.get("authorizer.class.name", "")
    return {"authorizer.class.name": name} if name else {}
