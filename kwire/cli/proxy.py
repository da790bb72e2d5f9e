"""`kwire proxy`: stand in front of Kafka's nodes and watch every RPC."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.feeding import FeedAt, Feeding, FeedToken, feeding
from kwire.cli.flow_options import (
    AsJson,
    From,
    Hidden,
    Only,
    ShowSecrets,
    To,
    Verbose,
    View,
    display,
    expression,
)
from kwire.cli.lazy import lazy_group
from kwire.cli.record_topic import RecordTopic, TopicConfig, TopicRecording, topic_recording
from kwire.cli.serving import ClusterId, OffLoopback, Serve, ServeConfig, Serving, serving
from kwire.cli.tls_options import ListenTls, UpstreamName, UpstreamTls, with_tls

if TYPE_CHECKING:
    from kwire.cli.interference import Interference
    from kwire.cli.proxy_run import Recording
    from kwire.net.address import Address
    from kwire.proxy import Listener
    from kwire.proxy.addresses import AddressBook
    from kwire.proxy.flows.language import Expression

LISTEN = re.compile(r"(?:(?P<id>\d{1,10})@)?(?P<listen>[^=@]+)=(?P<upstream>[^=@]+)")


class LogForm(StrEnum):
    """How a line of the log reads."""

    TEXT = "text"
    JSON = "json"


Script = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="Run the filters of this Python file, anew when it is saved."
    ),
]
RulesFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Do what these rules say, anew when they are saved."),
]
Hold = Annotated[
    str | None,
    typer.Option(
        metavar="EXPRESSION",
        help="Hold these requests, or with ~response, ~err … responses, until a line comes in: "
        "Enter, drop, close or all.",
    ),
]
Rewrite = Annotated[
    bool,
    typer.Option(
        "--rewrite-endpoints",
        help="Write the proxy's addresses over the nodes' in what passes; see docs/addresses.md.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        help="Fail where a node is named that is not behind the proxy; see docs/addresses.md."
    ),
]
AdvertisedHost = Annotated[
    str | None,
    typer.Option(
        metavar="HOST",
        help="The host that nodes and clients are told, where it is not the one of --listen.",
    ),
]


Metrics = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT", help="Serve counts and latencies to Prometheus, at /metrics there."
    ),
]
LogFormat = Annotated[
    LogForm | None,
    typer.Option(help="Log what happens to connections on stderr, a line each, as well."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Run as a service, as this file says; it takes the place of all other options.",
    ),
]


app = typer.Typer(
    cls=lazy_group({"rules": "kwire.cli.proxy_rules:app"}),
    invoke_without_command=True,
    subcommand_metavar="[rules …]",
    rich_markup_mode=None,
)


@app.callback()
def proxy(
    context: typer.Context,
    listen: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[ID@]HOST:PORT=HOST:PORT",
            help="Listen here in front of the node there, whose id is ID; may be repeated.",
        ),
    ] = None,
    read: Annotated[
        list[Path] | None,
        typer.Option(
            "--read",
            "-r",
            metavar="FILE|DIR",
            help="Show what was recorded instead; with -w copy what --view says.",
        ),
    ] = None,
    since: From = None,
    until: To = None,
    api: Only = None,
    no_api: Hidden = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            "-w",
            metavar="FILE|DIR",
            help="Record all that passes; a folder gets a new file each hour and 256 MiB.",
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(metavar="EXPRESSION", help="Record this only, and all notices."),
    ] = None,
    record_limit: Annotated[
        int | None,
        typer.Option(metavar="BYTES", min=1, help="Record no more than this of each frame."),
    ] = None,
    record_topic: RecordTopic = None,
    topic_config: TopicConfig = None,
    show_secrets: ShowSecrets = False,
    view: View = None,
    script: Script = None,
    rules: RulesFile = None,
    hold: Hold = None,
    rewrite_endpoints: Rewrite = False,
    advertised_host: AdvertisedHost = None,
    strict: Strict = False,
    serve: Serve = None,
    serve_config: ServeConfig = None,
    cluster_id: ClusterId = None,
    off_loopback: OffLoopback = False,
    listen_tls: ListenTls = None,
    upstream_tls: UpstreamTls = None,
    upstream_name: UpstreamName = None,
    feed: FeedAt = None,
    feed_token: FeedToken = None,
    metrics: Metrics = None,
    log_format: LogFormat = None,
    config: Config = None,
) -> None:
    """Pass traffic through and show each request with its response, untouched unless told to.

    Clients find the nodes by the addresses these advertise: let the nodes advertise the proxy's
    (`kwire proxy-config` writes the lines), or give --rewrite-endpoints; else only the first
    connection passes here. SIGTERM lets requests that are under way be answered; Ctrl-C ends it.

    \b
    kwire proxy --listen 3000@127.0.0.1:19093=127.0.0.1:9093
    kwire proxy --listen 127.0.0.1:19092=localhost:9092 --api Produce --json
    kwire proxy --listen 127.0.0.1:19092=localhost:9092 -w traffic.avro
    kwire proxy --listen 127.0.0.1:19092=localhost:9092 --record-topic captures@kafka:9092
    kwire proxy --listen 127.0.0.1:19093=localhost:9093 --view "~api Fetch & ~lat >100ms"
    kwire proxy --listen 3000@127.0.0.1:19093=localhost:9093 --rules slow.yaml
    kwire proxy --listen 1@127.0.0.1:19092=broker-1:9092 --rewrite-endpoints
    kwire proxy --listen 3000@127.0.0.1:19093=localhost:9093 --serve metadata
    kwire proxy --listen 0.0.0.0:19093=a:9093 --listen-tls a.pem,a.key --upstream-tls ca.pem
    kwire proxy --listen 127.0.0.1:19093=localhost:9093 --feed 127.0.0.1:9900
    kwire proxy -r traffic.avro --view "~err *" --from +10s
    kwire proxy --config kwire-proxy.yaml
    kwire proxy rules list
    """
    if context.invoked_subcommand is not None:
        return _only_subcommand(context)
    if config:
        return _serve(config, context)
    how = display(api, no_api, view, verbose=verbose, as_json=as_json, secrets=show_secrets)
    if read:
        if listen or script or rules or hold or feed or record_topic:
            raise WrongUsage("--read shows what was recorded: it takes no --listen and no filters.")
        from kwire.cli.capture_reading import CaptureReading

        reading = CaptureReading(captures=read, since=since, until=until)
        return reading.copy(how, write) if write else reading.show(how)
    if since or until:
        raise WrongUsage("--from and --to are for what was recorded: give --read as well.")
    _check_together(serve, serve_config, advertised_host, rewrite_endpoints, strict=strict)
    listeners = with_tls(
        [_listener(text) for text in listen or ()], listen_tls, upstream_tls, upstream_name
    )
    if not listeners:
        raise WrongUsage("Give --listen to stand in front of a node, or --read to show a capture.")
    from kwire.cli.proxy_run import run

    meant = expression(record)
    recordings = _recordings(
        write, record_topic, topic_config, meant, record_limit, show_secrets=show_secrets
    )
    book = _book(listeners[0], advertised_host) if rewrite_endpoints else None
    viewers = feeding(feed, feed_token)
    served = None
    if serve is not None:
        served = serving(
            serve,
            listeners,
            cluster_id=cluster_id,
            advertised_host=advertised_host,
            off_loopback=off_loopback,
            client_config=serve_config,
        )
    interference = _interference(script or [], rules, hold, book, viewers, served)
    run(listeners, how, recordings, interference, _address(metrics), log_format, strict=strict)


def _check_together(
    serve: Serve,
    serve_config: ServeConfig,
    advertised_host: AdvertisedHost,
    rewrite: Rewrite,
    *,
    strict: bool,
) -> None:
    if advertised_host and not (rewrite or serve):
        raise WrongUsage(
            "--advertised-host says what --rewrite-endpoints or --serve tells: give one of them."
        )
    if serve_config and not serve:
        raise WrongUsage("--serve-config is for --serve: give that as well.")
    if strict and (rewrite or serve):
        raise WrongUsage(
            "--strict is for nodes that advertise the proxy: leave it, or --rewrite-endpoints and"
            " --serve."
        )
    if rewrite and serve:
        raise WrongUsage("--serve tells the proxy's addresses itself: leave --rewrite-endpoints.")


def _only_subcommand(context: typer.Context) -> None:
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            raise WrongUsage(
                f"{parameter.opts[0]} is for running a proxy: give it without"
                f" `{context.invoked_subcommand}`, whose own options stand behind its command."
            )


def _serve(config: Path, context: typer.Context) -> None:
    """Run the service of a file, beside which nothing may stand on the command line."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name != "config" and source is not None and source.name == "COMMANDLINE":
            option = parameter.opts[0]
            raise WrongUsage(f"--config excludes {option}: the file has a place for what it says.")
    from kwire.cli.service import serve

    serve(config)


def _recordings(
    write: Path | None,
    topic: str | None,
    topic_config: Path | None,
    meant: Expression | None,
    frame_limit: int | None,
    *,
    show_secrets: bool,
) -> list[Recording | TopicRecording]:
    from kwire.cli.proxy_run import Recording

    into = topic_recording(
        topic, topic_config, meant, show_secrets=show_secrets, frame_limit=frame_limit
    )
    recordings: list[Recording | TopicRecording] = [] if into is None else [into]
    if write:
        recordings.append(Recording(write, meant, show_secrets, frame_limit))
    return recordings


def _address(text: str | None) -> Address | None:
    from kwire.errors import InvalidValue
    from kwire.net.address import Address

    try:
        return None if text is None else Address.parse(text)
    except InvalidValue as error:
        raise WrongUsage(f"--metrics: {error}.") from error


def _interference(
    scripts: list[Path],
    rules: Path | None,
    hold: str | None,
    book: AddressBook | None,
    feeding: Feeding | None,
    serving: Serving | None,
) -> Interference | None:
    wanted = (rules, hold, book, feeding, serving)
    if not scripts and all(one is None for one in wanted):
        return None
    from kwire.cli.interference import Interference

    return Interference(
        scripts=scripts, rules=rules, hold=hold, book=book, feeding=feeding, serving=serving
    )


def _book(first: Listener, advertised_host: str | None) -> AddressBook:
    """An address book that tells others of a host they can reach."""
    from kwire.net.address import cannot_connect, is_wildcard
    from kwire.proxy.addresses import AddressBook

    host = first.listen.host
    if advertised_host is None and is_wildcard(host):
        raise WrongUsage(cannot_connect(host, "give --advertised-host as well."))
    return AddressBook(advertised_host)


def _listener(text: str) -> Listener:
    from kwire.errors import InvalidValue
    from kwire.proxy import Address, Listener

    match = LISTEN.fullmatch(text)
    if match is None:
        raise WrongUsage(
            f"{text!r} is no pair of addresses: write 127.0.0.1:19093=127.0.0.1:9093, the proxy's"
            " and the node's."
        )
    try:
        upstream, here = Address.parse(match["upstream"]), Address.parse(match["listen"])
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
    node_id = None if match["id"] is None else int(match["id"])
    listener = Listener(node_id=node_id, upstream=upstream, listen=here)
    if listener.to_itself:
        raise WrongUsage(f"{text!r} has the proxy connect to itself: listen at another port.")
    return listener
