"""`kwire proxy`: stand in front of Kafka's nodes and watch every RPC."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.flows.options import (
    AsJson,
    From,
    Hidden,
    Only,
    ShowSecrets,
    To,
    Verbose,
    View,
    display,
)
from kwire.cli.lazy import lazy_group
from kwire.cli.proxy.options import (
    AddressFile,
    AdvertisedHost,
    AllowedNodes,
    Check,
    ClusterId,
    ConfigFile,
    Feed,
    FeedToken,
    Hold,
    LendRights,
    Listen,
    ListenTls,
    LogFormat,
    MetricsAt,
    NodePorts,
    OffLoopback,
    Read,
    Record,
    RecordingMode,
    RecordLimit,
    RecordTopic,
    RewriteEndpoints,
    RulesFile,
    Script,
    Serve,
    ServeConfigFile,
    Strict,
    TopicConfig,
    UpstreamName,
    UpstreamTls,
    Write,
)

app = typer.Typer(
    cls=lazy_group({"rules": "kwire.cli.proxy.rules:app"}),
    invoke_without_command=True,
    subcommand_metavar="[rules …]",
    rich_markup_mode=None,
)


@app.callback()
def proxy(
    context: typer.Context,
    listen: Listen = None,
    read: Read = None,
    since: From = None,
    until: To = None,
    api: Only = None,
    no_api: Hidden = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
    write: Write = None,
    record: Record = None,
    record_limit: RecordLimit = None,
    recording_mode: RecordingMode = None,
    record_topic: RecordTopic = None,
    topic_config: TopicConfig = None,
    show_secrets: ShowSecrets = False,
    view: View = None,
    script: Script = None,
    rules: RulesFile = None,
    hold: Hold = None,
    rewrite_endpoints: RewriteEndpoints = False,
    advertised_host: AdvertisedHost = None,
    allowed_nodes: AllowedNodes = None,
    address_file: AddressFile = None,
    node_ports: NodePorts = None,
    strict: Strict = False,
    serve: Serve = None,
    serve_config: ServeConfigFile = None,
    cluster_id: ClusterId = None,
    off_loopback: OffLoopback = False,
    lend_rights: LendRights = False,
    listen_tls: ListenTls = None,
    upstream_tls: UpstreamTls = None,
    upstream_name: UpstreamName = None,
    feed: Feed = None,
    feed_token: FeedToken = None,
    metrics: MetricsAt = None,
    log_format: LogFormat = None,
    config: ConfigFile = None,
    check: Check = False,
) -> None:
    """Proxy between clients and nodes; show requests and responses.

    Clients connect to the addresses that nodes advertise. Let the nodes advertise the proxy's
    (`kwire proxy-config` writes the lines), or give --rewrite-endpoints; otherwise only a client's
    first connection passes here. SIGTERM lets requests that are under way be answered; Ctrl-C ends
    it.

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
    kwire proxy --config kwire-proxy.yaml --check
    kwire proxy rules list
    """
    if context.invoked_subcommand is not None:
        return _refuse_options(context)
    if check:
        return _check_file(config, context)
    if config:
        return _run_file(config, context)
    if read:
        if listen or script or rules or hold or feed or record_topic:
            raise WrongUsage("--read shows what was recorded: it takes no --listen and no filters.")
        if recording_mode:
            raise WrongUsage("--recording-mode is for a recording: with --read omit it.")
        from kwire.cli.capture.reading import CaptureReading

        how = display(api, no_api, view, verbose=verbose, as_json=as_json, secrets=show_secrets)
        reading = CaptureReading(captures=read, since=since, until=until)
        return reading.copy(how, write) if write else reading.show(how)
    if since or until:
        raise WrongUsage("--from and --to are for what was recorded: give --read as well.")
    if not listen:
        raise WrongUsage("Give --listen to run in front of a node, or --read to show a capture.")
    from kwire.cli.proxy.flags import build_config
    from kwire.cli.proxy.run import run_options

    run_options(build_config(context))


def _refuse_options(context: typer.Context) -> None:
    """Refuse all options, before a subcommand."""
    for option in _given_options(context):
        raise WrongUsage(
            f"{option} is for running a proxy: give it without"
            f" `{context.invoked_subcommand}`, whose own options follow it."
        )


def _check_file(file: Path | None, context: typer.Context) -> None:
    """Check the configuration of a file; of the other options only --json may be given."""
    if file is None:
        raise WrongUsage("--check is for a file: give it with --config.")
    _refuse_others(context, {"--config", "--check", "--json"})
    from kwire.cli.proxy.check import check_file

    check_file(file, as_json=bool(context.params["as_json"]))


def _run_file(file: Path, context: typer.Context) -> None:
    """Run the configuration of a file; no other option may be given."""
    _refuse_others(context, {"--config"})
    from kwire.cli.proxy.run import run_file

    run_file(file)


def _refuse_others(context: typer.Context, allowed: set[str]) -> None:
    for option in _given_options(context):
        if option not in allowed:
            raise WrongUsage(f"--config excludes {option}: set it in the file.")


def _given_options(context: typer.Context) -> Iterator[str]:
    """Yield the options that stand on the command line."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            yield parameter.opts[0]
