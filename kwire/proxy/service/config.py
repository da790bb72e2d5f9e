"""The file of a proxy that runs as a service: clusters, their listeners, what is done with them.

clusters:
  - name: orders
    listeners:
      - {listen: 0.0.0.0:19092, upstream: broker-1:9092, node: 1}
    rules: slow.yaml
metrics: 0.0.0.0:9464
"""

from __future__ import annotations

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
from kwire.net.address import Address, cannot_connect, is_wildcard
from kwire.net.tls import ClientTls, ServerTls
from kwire.proxy.capture.record_topic import TopicAddress
from kwire.proxy.data_path.listener import Limits, Listener
from kwire.proxy.flows.language import Expression, parse
from kwire.text.text_file import read_text
from kwire.text.yaml_file import BadFile, Seconds, Strict, read_yaml

_LIMITS = Limits()
_APIS = {name.lower(): name for name in APIS.values()}


class BadConfig(BadFile):
    """A configuration that cannot be used."""


def _address(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no address: write host:port")
    return Address.parse(value)


def _topic(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no topic: write TOPIC@HOST:PORT")
    return TopicAddress.parse(value)


def _expression(value: Any) -> Any:
    return parse(value) if isinstance(value, str) else value


def _expression_text(value: str) -> str:
    parse(value)
    return value


def _api(value: str) -> str:
    if value.lower() not in _APIS:
        raise ValueError(f"no API is called {value!r}; `kwire show --list` names them")
    return _APIS[value.lower()]


def _beside(path: Path, info: ValidationInfo) -> Path:
    """The path as the file means it, which is that of a file in its own folder."""
    return Path(info.context or "") / path


At = Annotated[InstanceOf[Address], BeforeValidator(_address)]
Match = Annotated[InstanceOf[Expression], BeforeValidator(_expression)]
MatchText = Annotated[str, AfterValidator(_expression_text)]
Api = Annotated[str, AfterValidator(_api)]
File = Annotated[Path, AfterValidator(_beside)]


class ServerTlsConfig(Strict):
    """TLS with clients; see ServerTls."""

    certificate: File
    key: File
    clients: File | None = None


class ClientTlsConfig(Strict):
    """TLS with a node; see ClientTls."""

    authorities: File | None = None
    certificate: File | None = None
    key: File | None = None
    name: str | None = None
    check_name: bool = True


class ListenerConfig(Strict):
    """One node, and where the proxy stands in front of it."""

    listen: At
    upstream: At
    node: int | None = Field(default=None, ge=0)
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

    @model_validator(mode="after")
    def _somebody_else(self) -> ListenerConfig:
        if self.listener.to_itself:
            raise ValueError("the proxy would connect to itself: listen at another port")
        return self


class RecordConfig(Strict):
    """Where to write down what passes: in files, or in a topic. only: what is meant of it.

    frame_limit: bytes of each frame that are written down. client_config: how the topic's cluster
    is spoken with; a file of Kafka's client properties.
    """

    path: File | None = None
    topic: Annotated[InstanceOf[TopicAddress], BeforeValidator(_topic)] | None = None
    client_config: File | None = None
    only: Match | None = None
    frame_limit: PositiveInt | None = None
    show_secrets: bool = False

    @model_validator(mode="after")
    def _one_place(self) -> RecordConfig:
        if (self.path is None) == (self.topic is None):
            raise ValueError("give one of path and topic")
        if self.client_config is not None and self.topic is None:
            raise ValueError("client_config is for the cluster of a topic: give topic as well")
        return self


class FeedConfig(Strict):
    """Where `kwire watch` sees what passes. token: a file; a must beyond loopback."""

    listen: At
    token: File | None = None


class ServeConfig(Strict):
    """What is answered instead of passed.

    client_config: how the proxy itself asks nodes; a file of Kafka's client properties.
    """

    mode: Literal["metadata", "kip919", "controller"]
    client_config: File | None = None
    cluster_id: str | None = None
    off_loopback: bool = False


class ClusterConfig(Strict):
    """The nodes of a cluster, and what is done to their traffic."""

    name: str = Field(default="", max_length=100)
    listeners: tuple[ListenerConfig, ...] = Field(min_length=1)
    rules: File | None = None
    scripts: tuple[File, ...] = ()
    hold: MatchText | None = None
    feed: FeedConfig | None = None
    rewrite_endpoints: bool = False
    advertised_host: str | None = None
    strict: bool = False
    serve: ServeConfig | None = None
    record: RecordConfig | None = None

    @model_validator(mode="after")
    def _together(self) -> ClusterConfig:
        tells = self.rewrite_endpoints or self.serve is not None
        if self.strict and tells:
            raise ValueError(
                "strict is for nodes that advertise the proxy: with rewrite_endpoints"
                " or serve leave it"
            )
        if self.rewrite_endpoints and self.serve is not None:
            raise ValueError("serve tells the proxy's addresses itself: leave rewrite_endpoints")
        if self.advertised_host is not None and not tells:
            raise ValueError("advertised_host is for rewrite_endpoints or serve: give one of them")
        hosts = [one.listen.host for one in self.listeners if is_wildcard(one.listen.host)]
        if tells and hosts and self.advertised_host is None:
            raise ValueError(cannot_connect(hosts[0], "give advertised_host as well"))
        if self.hold is not None and self.feed is None:
            raise ValueError("nobody could let go what is held: give feed as well")
        return self


class ShowConfig(Strict):
    """Which flows are printed, and how."""

    api: tuple[Api, ...] = ()
    no_api: tuple[Api, ...] = ()
    view: Match | None = None
    verbose: bool = False
    as_json: bool = Field(default=False, alias="json")

    @model_validator(mode="after")
    def _not_both(self) -> ShowConfig:
        if both := sorted({*self.api} & {*self.no_api}):
            raise ValueError(f"api and no_api both name {', '.join(both)}: keep one of them")
        return self


class LogConfig(Strict):
    """What is told on stderr, and in which form."""

    form: Literal["text", "json"] = Field(default="text", alias="format")
    level: Literal["debug", "info", "warning", "error"] = "info"


class LimitsConfig(Strict):
    """How long the proxy waits; see Limits."""

    connect: Seconds = _LIMITS.connect
    first_frame: Seconds = _LIMITS.first_frame
    progress: Seconds = _LIMITS.progress
    idle: Seconds = _LIMITS.idle

    @property
    def limits(self) -> Limits:
        return Limits(**self.model_dump())


class ProxyConfig(Strict):
    """A whole file. drain: how long requests may take to be answered when the proxy is to stop."""

    clusters: tuple[ClusterConfig, ...] = Field(min_length=1)
    show: ShowConfig | None = None
    metrics: At | None = None
    log: LogConfig = LogConfig()
    limits: LimitsConfig = LimitsConfig()
    drain: Seconds = 30.0

    @model_validator(mode="after")
    def _apart(self) -> ProxyConfig:
        names = [cluster.name for cluster in self.clusters]
        if len(names) > 1 and "" in names:
            raise ValueError("where there are several clusters each needs a name")
        if twice := _first_twice(names):
            raise ValueError(f"two clusters are called {twice!r}")
        at = [str(one.listen) for cluster in self.clusters for one in cluster.listeners]
        if twice := _first_twice([address for address in at if not address.endswith(":0")]):
            raise ValueError(f"two listeners are to listen at {twice}")
        return self


def _first_twice(names: list[str]) -> str:
    return next((name for i, name in enumerate(names) if name in names[:i]), "")


def read_config(path: Path) -> ProxyConfig:
    """What a file says; BadConfig names the file, and the key of each thing that is wrong."""
    text = read_text(path, BadConfig)
    try:
        return read_yaml(ProxyConfig, text, BadConfig, context=path.parent)
    except BadConfig as error:
        raise BadConfig(f"{path}: {error}".replace("\n", f"\n{path}: ")) from error
