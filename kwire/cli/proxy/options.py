"""Options of `kwire proxy` whose declarations are long."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ServeModeName(StrEnum):
    """The names of modes that --serve takes."""

    METADATA = "metadata"
    KIP919 = "kip919"
    CONTROLLER = "controller"


class LogForm(StrEnum):
    """The forms of a line of the log."""

    TEXT = "text"
    JSON = "json"


Listen = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[ID@]HOST:PORT=HOST:PORT",
        help="Listen here in front of the node there, whose id is ID; may be repeated.",
    ),
]
Read = Annotated[
    list[Path] | None,
    typer.Option(
        "--read",
        "-r",
        metavar="FILE|DIR",
        help="Show a capture instead; with -w copy the flows that --view selects.",
    ),
]
Write = Annotated[
    Path | None,
    typer.Option(
        "--write",
        "-w",
        metavar="FILE|DIR",
        help="Record all that passes; a folder gets a new file each hour and 256 MiB.",
    ),
]
Record = Annotated[
    str | None,
    typer.Option(metavar="EXPRESSION", help="Record this only, and all notices."),
]
RecordingMode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="Permissions of the files of -w: 0640 or 0644 instead of 0600, whatever the umask.",
    ),
]
RecordLimit = Annotated[
    int | None,
    typer.Option(metavar="BYTES", min=1, help="Record no more than this of each frame."),
]
RecordTopic = Annotated[
    str | None,
    typer.Option(
        metavar="TOPIC@HOST:PORT",
        help="Record into this topic, too: a message a record; pip install 'kwire[topic]'.",
    ),
]
TopicConfig = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --record-topic: settings of the connections to its cluster, a"
        " client.properties of Kafka's.",
    ),
]
Script = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="Run the filters of this Python file; load it again when it is saved."
    ),
]
RulesFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Apply the rules of this file; load it again when it is saved."
    ),
]
Hold = Annotated[
    str | None,
    typer.Option(
        metavar="EXPRESSION",
        help="Hold these requests, or with ~response, ~err … responses, until a line comes in: "
        "Enter, drop, close or all.",
    ),
]
RewriteEndpoints = Annotated[
    bool,
    typer.Option(
        "--rewrite-endpoints",
        help="Write the proxy's addresses over the nodes' in what passes; see docs/addresses.md.",
    ),
]
AdvertisedHost = Annotated[
    str | None,
    typer.Option(
        metavar="HOST",
        help="The host in the addresses that nodes and clients get, if not that of --listen.",
    ),
]
AllowedNodes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST|*.DOMAIN|NETWORK/BITS[:PORT[-PORT]]",
        help="With --rewrite-endpoints or --serve: connect to nodes here when messages name them, "
        "not at the hosts of --listen and ports from 1024; may be repeated.",
    ),
]
AddressFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --rewrite-endpoints or --serve: keep the addresses that are given out for nodes"
        " in this file, and listen there again at the next start.",
    ),
]
NodePorts = Annotated[
    str | None,
    typer.Option(
        metavar="FIRST-LAST",
        help="With --rewrite-endpoints or --serve: ports for nodes that have no --listen.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        help="Fail where a node is named that is not behind the proxy; see docs/addresses.md."
    ),
]
Serve = Annotated[
    ServeModeName | None,
    typer.Option(help="Answer requests here instead of only passing them; see docs/serve.md."),
]
ServeConfigFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --serve: settings of the proxy's own connections to nodes, a"
        " client.properties of Kafka's; by default --upstream-tls.",
    ),
]
ClusterId = Annotated[
    str | None,
    typer.Option(
        metavar="ID", help="With --serve: the cluster's id, if its controllers do not report it."
    ),
]
OffLoopback = Annotated[
    bool,
    typer.Option(
        "--off-loopback",
        help="With --serve controller: listen where other machines may reach it, too.",
    ),
]
LendRights = Annotated[
    bool,
    typer.Option(
        "--lend-rights",
        help="Let clients act with the proxy's own rights: of its certificate for nodes, and with"
        " --serve of the user in --serve-config.",
    ),
]
ListenTls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[ID@]CERT,KEY[,CA]",
        help="Use TLS with clients, which need a certificate of CA if CA is given; repeatable.",
    ),
]
UpstreamTls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[ID@]CA[,CERT,KEY]",
        help="Use TLS with nodes, whose certificates are of CA, or of `system`; repeatable.",
    ),
]
UpstreamName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The name in nodes' certificates, where it is not the host; `any` checks none.",
    ),
]
Feed = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Let `kwire watch HOST:PORT` see what passes, and hold messages; see docs/watch.md.",
    ),
]
FeedToken = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Viewers need the token in this file, of 16 bytes or more; required beyond loopback.",
    ),
]
MetricsAt = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT", help="Serve counts and latencies to Prometheus, at /metrics there."
    ),
]
LogFormat = Annotated[
    LogForm | None,
    typer.Option(help="Log what happens to connections on stderr, a line each, as well."),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Run as a service, configured by this file instead of other options.",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="With --config: say what makes this file less safe, and end; see docs/proxy-check.md.",
    ),
]
