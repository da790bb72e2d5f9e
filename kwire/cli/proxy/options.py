"""The options of `kwire proxy`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kwire.cli.flows.options import (
    API,
    AS_JSON,
    NO_API,
    SHOW_SECRETS,
    VERBOSE,
    VIEW,
    ApiChoice,
    TimeRange,
)
from kwire.cli.options import flag, keys_of, option, repeated, with_key


class ServeModeName(StrEnum):
    """The names of modes that --serve takes."""

    METADATA = "metadata"
    KIP919 = "kip919"
    CONTROLLER = "controller"


class LogForm(StrEnum):
    """The forms of a line of the log."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """The options of `kwire proxy`, in the order of its help."""

    listen: list[str] = repeated(
        metavar="[ID@]HOST:PORT=HOST:PORT",
        help="Listen here in front of the node there, whose id is ID; may be repeated.",
    )
    read: list[Path] = repeated(
        "--read",
        "-r",
        metavar="FILE|DIR",
        help="Show a capture instead; with -w copy the flows that --view selects.",
    )
    times: TimeRange
    api: list[str] = with_key(API, "show.api")
    no_api: list[str] = with_key(NO_API, "show.no_api")
    verbose: bool = with_key(VERBOSE, "show.verbose")
    as_json: bool = with_key(AS_JSON, "show.json")
    write: Path | None = option(
        "--write",
        "-w",
        metavar="FILE|DIR",
        help="Record all that passes; a folder gets a new file each hour and 256 MiB.",
        key="clusters.record.path",
    )
    record: str | None = option(
        metavar="EXPRESSION", help="Record this only, and all notices.", key="clusters.record.only"
    )
    record_limit: int | None = option(
        metavar="BYTES",
        min=1,
        help="Record no more than this of each frame.",
        key="clusters.record.frame_limit",
    )
    recording_mode: str | None = option(
        metavar="MODE",
        help="Permissions of the files of -w: 0640 or 0644 instead of 0600, whatever the umask.",
        key="clusters.record.mode",
    )
    record_topic: str | None = option(
        metavar="TOPIC@HOST:PORT",
        help="Record into this topic, too: a message a record; pip install 'kwire[topic]'.",
        key="clusters.record.topic",
    )
    topic_config: Path | None = option(
        metavar="FILE",
        help="With --record-topic: settings of the connections to its cluster, a"
        " client.properties of Kafka's.",
        key="clusters.record.client_config",
    )
    show_secrets: bool = with_key(
        SHOW_SECRETS, ("clusters.record.show_secrets", "show.show_secrets")
    )
    view: str | None = with_key(VIEW, "show.view")
    script: list[Path] = repeated(
        metavar="FILE",
        help="Run the filters of this Python file; load it again when it is saved.",
        key="clusters.scripts",
    )
    rules: Path | None = option(
        metavar="FILE",
        help="Apply the rules of this file; load it again when it is saved.",
        key="clusters.rules",
    )
    hold: str | None = option(
        metavar="EXPRESSION",
        help="Hold these requests, or with ~response, ~err … responses, until a line comes in: "
        "Enter, drop, close or all.",
        key="clusters.hold",
    )
    rewrite_endpoints: bool = flag(
        "--rewrite-endpoints",
        help="Write the proxy's addresses over the nodes' in what passes; see "
        "docs/debuggers/addresses.md.",
        key="clusters.rewrite_endpoints",
    )
    advertised_host: str | None = option(
        metavar="HOST",
        help="The host in the addresses that nodes and clients get, if not that of --listen.",
        key="clusters.advertised_host",
    )
    allowed_nodes: list[str] = repeated(
        metavar="HOST|*.DOMAIN|NETWORK/BITS[:PORT[-PORT]]",
        help="With --rewrite-endpoints or --serve: connect to nodes here when messages name them, "
        "not at the hosts of --listen and ports from 1024; may be repeated.",
        key="clusters.allowed_nodes",
    )
    address_file: Path | None = option(
        metavar="FILE",
        help="With --rewrite-endpoints or --serve: keep the addresses that are given out for nodes"
        " in this file, and listen there again at the next start.",
        key="clusters.address_file",
    )
    node_ports: str | None = option(
        metavar="FIRST-LAST",
        help="With --rewrite-endpoints or --serve: ports for nodes that have no --listen.",
        key="clusters.node_ports",
    )
    strict: bool = flag(
        help="Fail where a node is named that is not behind the proxy; see "
        "docs/debuggers/addresses.md.",
        key="clusters.strict",
    )
    serve: ServeModeName | None = option(
        help="Answer requests here instead of only passing them; see docs/debuggers/serve.md.",
        key="clusters.serve.mode",
    )
    serve_config: Path | None = option(
        metavar="FILE",
        help="With --serve: settings of the proxy's own connections to nodes, a"
        " client.properties of Kafka's; by default --upstream-tls.",
        key="clusters.serve.client_config",
    )
    cluster_id: str | None = option(
        metavar="ID",
        help="With --serve: the cluster's id, if its controllers do not report it.",
        key="clusters.serve.cluster_id",
    )
    off_loopback: bool = flag(
        "--off-loopback",
        help="With --serve controller: listen where other machines may reach it, too.",
        key="clusters.serve.off_loopback",
    )
    lend_rights: bool = flag(
        "--lend-rights",
        help="Let clients act with the proxy's own rights: of its certificate for nodes, and with"
        " --serve of the user in --serve-config.",
        key="clusters.lend_rights",
    )
    listen_tls: list[str] = repeated(
        metavar="[ID@]CERT,KEY[,CA]",
        help="Use TLS with clients, which need a certificate of CA if CA is given; repeatable.",
    )
    upstream_tls: list[str] = repeated(
        metavar="[ID@]CA[,CERT,KEY]",
        help="Use TLS with nodes, whose certificates are of CA, or of `system`; repeatable.",
    )
    upstream_name: str | None = option(
        metavar="NAME",
        help="The name in nodes' certificates, where it is not the host; `any` checks none.",
    )
    tls_keys_out: Path | None = option(
        metavar="FILE",
        help="Append the secrets of TLS connections to this private file, for Wireshark and for"
        " --tls-keys of `kwire watch -` and `kwire capture import`: whoever has it can decrypt"
        " their packets.",
    )
    feed: str | None = option(
        metavar="HOST:PORT",
        help="Let `kwire watch HOST:PORT` see what passes, and hold messages; see "
        "docs/debuggers/watch.md.",
        key="clusters.feed.listen",
    )
    feed_token: Path | None = option(
        metavar="FILE",
        help="Viewers need the token in this file, of 16 bytes or more; required beyond loopback.",
        key="clusters.feed.token",
    )
    otlp: str | None = option(
        metavar="URL",
        help="Send a span for each RPC to this collector of OpenTelemetry; see"
        " docs/debuggers/spans.md.",
        key="clusters.otlp",
    )
    metrics: str | None = option(
        metavar="HOST:PORT",
        help="Serve counts and latencies to Prometheus, at /metrics there.",
        key="metrics",
    )
    log_format: LogForm | None = option(
        help="Log what happens to connections on stderr, a line each, as well.", key="log.format"
    )
    config: Path | None = option(
        metavar="FILE", help="Run as a service, configured by this file instead of other options."
    )
    check: bool = flag(
        "--check",
        help="With --config: say what makes this file less safe, and end; see "
        "docs/reference/proxy-check.md.",
    )

    @property
    def apis(self) -> ApiChoice:
        """The APIs that are shown."""
        return ApiChoice(api=self.api, no_api=self.no_api)


SETTINGS = keys_of(ProxyOptions)
"""Each option that is a setting, with its key; those of listeners are put together."""
