"""The configuration of the proxy: clusters, their listeners, what is done with their traffic.

`kwire proxy` builds it from its options; `kwire proxy --config` reads it from a file:

clusters:
  - name: orders
    listeners:
      - {listen: 0.0.0.0:19092, upstream: broker-1:9092, node: 1}
    rules: slow.yaml
metrics: 127.0.0.1:9464
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    InstanceOf,
    PositiveInt,
    ValidationInfo,
    model_validator,
)

from kwire.messages.index import APIS
from kwire.net.address import cannot_connect, is_loopback, is_wildcard
from kwire.net.tls import ClientTls, ServerTls
from kwire.permissions import PRIVATE, changeable_by_others
from kwire.proxy.capture.record_topic import TopicAddress
from kwire.proxy.data_path.allowed_nodes import AddressRule
from kwire.proxy.data_path.given_addresses import At, ConnectTo, NodeId
from kwire.proxy.data_path.listener import Limits, Listener
from kwire.proxy.flows.language import Expression, parse
from kwire.proxy.service.span_export import endpoint
from kwire.text.untrusted import cut_repr, read_text
from kwire.text.yaml_file import BadFile, Seconds, Size, Strict, read_yaml

_LIMITS = Limits()
_MOST_THREADS = 256
_KEY = re.compile(r"\{(\w+)\}")
_PORT_RANGE = re.compile(r"([0-9]{1,5})-([0-9]{1,5})")
_OCTAL = re.compile(r"(0o?)?[0-7]{3}")
_MODES = (0o600, 0o640, 0o644)
_APIS = {name.lower(): name for name in APIS.values()}


class BadConfig(BadFile):
    """A configuration that cannot be used."""


class KeyConflict(ValueError):
    """Keys that contradict each other, or one that needs another.

    sentence: has each key in braces, so that `kwire proxy` can name its options instead.
    """

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        super().__init__(self.with_names({}))

    def with_names(self, names: Mapping[str, str]) -> str:
        """Return the sentence with these names for keys; other keys keep their own."""
        return _KEY.sub(lambda key: names.get(key[1], key[1]), self._sentence)


def _address_rule(value: Any) -> Any:
    if isinstance(value, AddressRule):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} allows no addresses: write HOST:PORT-PORT")
    return AddressRule.parse(value)


def _topic(value: Any) -> Any:
    if isinstance(value, TopicAddress):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{cut_repr(value)} is no topic: write TOPIC@HOST:PORT")
    return TopicAddress.parse(value)


def _port_range(value: Any) -> Any:
    if isinstance(value, range):
        return value
    match = _PORT_RANGE.fullmatch(value) if isinstance(value, str) else None
    ports = range(int(match[1]), int(match[2]) + 1) if match else range(0)
    if not ports or ports[0] < 1 or ports[-1] >= 1 << 16:
        raise ValueError(f"{cut_repr(value)} are no ports: write FIRST-LAST, as 19200-19299")
    return ports


def _expression(value: Any) -> Any:
    return parse(value) if isinstance(value, str) else value


def _expression_text(value: str) -> str:
    parse(value)
    return value


def _api(value: str) -> str:
    if value.lower() not in _APIS:
        raise ValueError(f"no API is called {cut_repr(value)}; `kwire protocol show` names them")
    return _APIS[value.lower()]


def _mode(value: Any) -> Any:
    # YAML 1.1 reads 0640 as an octal number. A decimal 640 has other bits, and is refused.
    number = int(value, 8) if isinstance(value, str) and _OCTAL.fullmatch(value) else value
    if number in _MODES and not isinstance(number, bool):
        return number
    raise ValueError(f"{value!r} is none of a recording's permissions: 0600, 0640 or 0644")


def _relative_to_config(path: Path, info: ValidationInfo) -> Path:
    """Return the path relative to the folder of the configuration file, if there is one."""
    return Path(info.context or "") / path


CollectorUrl = Annotated[str, AfterValidator(endpoint)]
Allowed = Annotated[InstanceOf[AddressRule], BeforeValidator(_address_rule)]
Ports = Annotated[InstanceOf[range], BeforeValidator(_port_range)]
Match = Annotated[InstanceOf[Expression], BeforeValidator(_expression)]
MatchText = Annotated[str, AfterValidator(_expression_text)]
Api = Annotated[str, AfterValidator(_api)]
File = Annotated[Path, AfterValidator(_relative_to_config)]


class ServerTlsConfig(Strict):
    """TLS with clients; see ServerTls."""

    certificate: File
    key: File
    clients: File | None = None
    keys_out: File | None = None


class ClientTlsConfig(Strict):
    """TLS with a node; see ClientTls."""

    authorities: File | None = None
    certificate: File | None = None
    key: File | None = None
    name: str | None = None
    check_name: bool = True
    keys_out: File | None = None


class ProxyListenerConfig(Strict):
    """One node, and the address at which the proxy listens in front of it."""

    listen: At
    upstream: ConnectTo
    node: NodeId | None = None
    tls: ServerTlsConfig | None = None
    upstream_tls: ClientTlsConfig | None = None

    @property
    def listener(self) -> Listener:
        tls, upstream_tls = self.tls, self.upstream_tls
        return Listener(
            node_id=self.node,
            upstream=self.upstream,
            listen=self.listen,
            tls=None if tls is None else ServerTls(**dict(tls)),
            upstream_tls=None if upstream_tls is None else ClientTls(**dict(upstream_tls)),
        )

    @property
    def presents_certificate(self) -> bool:
        """True if nodes know clients of this listener by the proxy's certificate."""
        return self.listener.presents_certificate

    @property
    def knows_clients(self) -> bool:
        """True if clients need a certificate of their own."""
        return self.tls is not None and self.tls.clients is not None

    @model_validator(mode="after")
    def _somebody_else(self) -> ProxyListenerConfig:
        if self.listener.connects_to_itself:
            raise ValueError("the proxy would connect to itself: listen at another port")
        return self


class RecordConfig(Strict):
    """A recording in files, in a topic, or in both. only: the flows that are recorded.

    mode: permissions of files. frame_limit: bytes of each frame that are written down.
    client_config: a file of Kafka's client properties, for the connections to the topic's cluster.
    """

    path: File | None = None
    mode: Annotated[int, BeforeValidator(_mode)] = PRIVATE
    topic: Annotated[InstanceOf[TopicAddress], BeforeValidator(_topic)] | None = None
    client_config: File | None = None
    only: Match | None = None
    frame_limit: PositiveInt | None = None
    show_secrets: bool = False

    @model_validator(mode="after")
    def _has_target(self) -> RecordConfig:
        if self.client_config is not None and self.topic is None:
            raise KeyConflict("{client_config} is for {topic}: give {topic} as well")
        if "mode" in self.model_fields_set and self.path is None:
            raise KeyConflict("{mode} is for {path}: give {path} as well")
        if self.path is None and self.topic is None:
            raise ValueError("give path, topic or both")
        return self


class FeedConfig(Strict):
    """The address of a feed for `kwire watch`. token: a file; required beyond loopback."""

    listen: At
    token: File | None = None

    @model_validator(mode="after")
    def _needs_token(self) -> FeedConfig:
        if self.token is None and not is_loopback(self.listen.host):
            raise KeyConflict(
                f"{self.listen} is reached from other machines: give {{token}} as well"
            )
        return self


class ServeConfig(Strict):
    """Requests that are answered instead of passed; see docs/debuggers/serve.md.

    client_config: a file of Kafka's client properties, for the proxy's own connections to nodes.
    """

    mode: Literal["metadata", "kip919", "controller"]
    client_config: File | None = None
    cluster_id: str | None = None
    off_loopback: bool = False


class ClusterConfig(Strict):
    """The nodes of a cluster, and what is done to their traffic.

    address_file: keeps the addresses that are given out. node_ports: those of nodes without a
    listener here. lend_rights: clients act with rights of the proxy's own: of the certificate that
    it presents to nodes, and of the principal of `serve.client_config`. otlp: the URL of a
    collector of OpenTelemetry, which gets a span for each RPC.
    """

    name: str = Field(default="", max_length=100)
    listeners: tuple[ProxyListenerConfig, ...] = Field(min_length=1)
    rules: File | None = None
    scripts: tuple[File, ...] = ()
    hold: MatchText | None = None
    feed: FeedConfig | None = None
    rewrite_endpoints: bool = False
    advertised_host: str | None = None
    allowed_nodes: tuple[Allowed, ...] = ()
    address_file: File | None = None
    node_ports: Ports = range(0)
    strict: bool = False
    serve: ServeConfig | None = None
    lend_rights: bool = False
    record: RecordConfig | None = None
    otlp: CollectorUrl | None = None

    @property
    def lending_sentences(self) -> tuple[str, ...]:
        """A sentence for each way in which clients get rights of the proxy's own."""
        sentences = []
        if certificates := [str(at.listen) for at in self._lending]:
            sentences.append(
                f"clients of {', '.join(certificates)} have the rights of the proxy's certificate"
            )
        if self.lend_rights and self.has_principal:
            sentences.append("changes that clients make have the rights of the proxy's principal")
        return tuple(sentences)

    @property
    def _lending(self) -> list[ProxyListenerConfig]:
        """The listeners whose clients have the rights of a certificate of the proxy's.

        What is routed goes over connections of the proxy's own, which have the certificate of the
        first listener where `serve.client_config` gives them no other.
        """
        serve = self.serve
        routes = serve is not None and serve.mode == "metadata" and serve.client_config is None
        if routes and self.listeners[0].presents_certificate:
            return list(self.listeners)
        return [at for at in self.listeners if at.presents_certificate]

    @property
    def has_principal(self) -> bool:
        """True if the proxy's own connections have a principal that it could lend."""
        serve = self.serve
        return serve is not None and serve.mode == "metadata" and serve.client_config is not None

    @property
    def filter_files(self) -> tuple[Path, ...]:
        """The scripts and rules, which are loaded again when they are saved."""
        return self.scripts if self.rules is None else (*self.scripts, self.rules)

    @model_validator(mode="after")
    def _check_advertised_addresses(self) -> ClusterConfig:
        """Check that clients get addresses from the nodes or from the proxy, not from both."""
        proxy_tells = self.rewrite_endpoints or self.serve is not None
        if self.strict and proxy_tells:
            raise KeyConflict(
                "{strict} is for nodes that advertise the proxy: with {rewrite_endpoints}"
                " or {serve} omit it"
            )
        if self.rewrite_endpoints and self.serve is not None:
            raise KeyConflict(
                "{serve} tells the proxy's addresses itself: omit {rewrite_endpoints}"
            )
        for key in ("advertised_host", "allowed_nodes", "address_file", "node_ports"):
            if getattr(self, key) and not proxy_tells:
                raise KeyConflict(
                    f"{{{key}}} is for {{rewrite_endpoints}} or {{serve}}: give one of them"
                )
        for listener in self.listeners:
            host = listener.listen.host
            if proxy_tells and is_wildcard(host) and self.advertised_host is None:
                raise KeyConflict(cannot_connect(host, "give {advertised_host} as well"))
        return self

    @model_validator(mode="after")
    def _can_serve(self) -> ClusterConfig:
        if self.serve is None:
            return self
        for listener in self.listeners:
            if listener.node is None:
                raise KeyConflict(
                    f"{{serve}} knows nodes by their ids: give {{node}} at {listener.listen}"
                )
        if self.serve.mode == "controller" and not self.serve.off_loopback:
            for listener in self.listeners:
                host = listener.listen.host
                if not is_loopback(host):
                    raise KeyConflict(
                        f"{{serve}} controller invents its answers, and other machines can"
                        f" reach {host}: listen at 127.0.0.1, or give {{off_loopback}} as well"
                    )
        return self

    @model_validator(mode="after")
    def _lends_knowingly(self) -> ClusterConfig:
        """Check that no client of another machine gets rights of the proxy without an option."""
        lending = self._lending
        if self.lend_rights and not lending and not self.has_principal:
            raise KeyConflict(
                "{lend_rights} has nothing to lend: it is for {upstream_tls} with a certificate,"
                " and for {serve} metadata with {client_config}"
            )
        for listener in lending:
            host = listener.listen.host
            if listener.knows_clients or is_loopback(host) or self.lend_rights:
                continue
            raise KeyConflict(
                f"whoever reaches {listener.listen} would act with the proxy's certificate: ask"
                " clients for theirs ({tls} with an authority), listen at 127.0.0.1, or give"
                " {lend_rights}"
            )
        return self

    @model_validator(mode="after")
    def _can_release(self, info: ValidationInfo) -> ClusterConfig:
        # Only files have a context. Without one there is a terminal, where messages are released.
        if info.context is not None and self.hold is not None and self.feed is None:
            raise ValueError("held messages could not be released: give feed as well")
        return self


class ShowConfig(Strict):
    """The flows that are printed, and how."""

    api: tuple[Api, ...] = ()
    no_api: tuple[Api, ...] = ()
    view: Match | None = None
    verbose: bool = False
    as_json: bool = Field(default=False, alias="json")
    show_secrets: bool = False

    @model_validator(mode="after")
    def _not_both(self) -> ShowConfig:
        if both := sorted({*self.api} & {*self.no_api}):
            raise KeyConflict(
                f"{{api}} and {{no_api}} both name {', '.join(both)}: keep one of them"
            )
        return self


class LogLinesConfig(Strict):
    """The level and the form of the lines that are logged on stderr."""

    form: Literal["text", "json"] = Field(default="text", alias="format")
    level: Literal["debug", "info", "warning", "error"] = "info"


class LimitsConfig(Strict):
    """Seconds that the proxy waits, and the most that it takes; see Limits."""

    connect: Seconds = _LIMITS.connect
    first_frame: Seconds = _LIMITS.first_frame
    login: Seconds = _LIMITS.login
    progress: Seconds = _LIMITS.progress
    idle: Seconds = _LIMITS.idle
    request_size: Size = _LIMITS.request_size
    connections: PositiveInt = _LIMITS.connections
    connections_per_ip: PositiveInt = _LIMITS.connections_per_ip
    threads: Annotated[int, Field(ge=1, le=_MOST_THREADS)] = _LIMITS.threads

    @property
    def limits(self) -> Limits:
        return Limits(**self.model_dump())


class ProxyConfig(Strict):
    """A whole file, or all options of `kwire proxy`.

    log: None if nothing is logged. drain: seconds that requests have to be answered when the proxy
    is to stop.
    """

    clusters: tuple[ClusterConfig, ...] = Field(min_length=1)
    show: ShowConfig | None = None
    metrics: At | None = None
    log: LogLinesConfig | None = LogLinesConfig()
    limits: LimitsConfig = LimitsConfig()
    drain: Seconds = 30.0

    @model_validator(mode="after")
    def _names_and_addresses_differ(self) -> ProxyConfig:
        names = [cluster.name for cluster in self.clusters]
        if len(names) > 1 and "" in names:
            raise ValueError("where there are several clusters each needs a name")
        if twice := _first_twice(names):
            raise ValueError(f"two clusters are called {cut_repr(twice)}")
        listeners = (listener for cluster in self.clusters for listener in cluster.listeners)
        addresses = [str(listener.listen) for listener in listeners if listener.listen.port]
        if twice := _first_twice(addresses):
            raise ValueError(f"two listeners are to listen at {twice}")
        files = [str(one.address_file) for one in self.clusters if one.address_file is not None]
        if twice := _first_twice(files):
            raise ValueError(f"two clusters keep their addresses in {twice}: give each its own")
        return self


def _first_twice(names: list[str]) -> str:
    return next((name for i, name in enumerate(names) if name in names[:i]), "")


def read_config(path: Path) -> ProxyConfig:
    """Read a file. Raises BadConfig, which names the file, and the key of each mistake."""
    if reason := changeable_by_others(path):
        raise BadConfig(f"the configuration is not taken: {reason}")
    return parse_config(path)


def parse_config(path: Path) -> ProxyConfig:
    """Read a file whoever can change it, to check it and not to run it. Raises BadConfig."""
    text = read_text(path, BadConfig)
    try:
        return read_yaml(ProxyConfig, text, BadConfig, context=path.parent)
    except BadConfig as error:
        raise BadConfig(error.in_file(path)) from error
