"""`kwire proxy`: stand in front of Kafka's nodes and watch every RPC."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import lazy_group
from kwire.cli.options import reads_options
from kwire.cli.proxy.options import ProxyOptions

app = typer.Typer(
    cls=lazy_group({"rules": "kwire.cli.proxy.rules:app"}),
    invoke_without_command=True,
    subcommand_metavar="[rules …]",
    rich_markup_mode=None,
)


@app.callback()
@reads_options
def proxy(context: typer.Context, options: ProxyOptions) -> None:
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
    if options.check:
        return _check_file(options, context)
    if options.read and not options.config:
        return _read(options, context)
    _advise_to_record(context)
    if options.config:
        return _run_file(options.config, context)
    if options.times.since or options.times.until:
        raise WrongUsage("--from and --to are for what was recorded: give --read as well.")
    if not options.listen:
        raise WrongUsage("Give --listen to run in front of a node, or --read to show a capture.")
    from kwire.cli.proxy.flags import build_config
    from kwire.cli.proxy.run import run_options

    run_options(build_config(options, context))


def _advise_to_record(context: typer.Context) -> None:
    """Name what shows the batches that are unpacked no further while traffic waits."""
    from kwire.batches.compression import Limit
    from kwire.cli.unpack_limit import use_limit

    use_limit(context, Limit(advice="record it, and `kwire capture cat -v` shows more"))


def _read(options: ProxyOptions, context: typer.Context) -> None:
    """Show what was recorded, or copy it."""
    if (
        options.listen
        or options.script
        or options.rules
        or options.hold
        or options.feed
        or options.record_topic
    ):
        raise WrongUsage("--read shows what was recorded: it takes no --listen and no filters.")
    if options.recording_mode:
        raise WrongUsage("--recording-mode is for a recording: with --read omit it.")
    from kwire.batches.compression import Limit
    from kwire.cli.capture.reading import CaptureReading
    from kwire.cli.flows.display import Display
    from kwire.cli.unpack_limit import MEBIBYTES, use_limit

    use_limit(context, Limit.by_size(MEBIBYTES, "kwire capture cat --unpack-limit"))
    display = Display(
        options.apis.selection(options.view),
        verbose=options.verbose,
        as_json=options.as_json,
        secrets=options.show_secrets,
    )
    reading = CaptureReading(captures=options.read, times=options.times)
    if options.write:
        reading.copy(display, options.write)
    else:
        reading.show(display)


def _refuse_options(context: typer.Context) -> None:
    """Refuse all options, before a subcommand."""
    for option in _given_options(context):
        raise WrongUsage(
            f"{option} is for running a proxy: give it without"
            f" `{context.invoked_subcommand}`, whose own options follow it."
        )


def _check_file(options: ProxyOptions, context: typer.Context) -> None:
    """Check the configuration of a file; of the other options only --json may be given."""
    if options.config is None:
        raise WrongUsage("--check is for a file: give it with --config.")
    _refuse_others(context, {"--config", "--check", "--json"})
    from kwire.cli.proxy.check import check_file

    check_file(options.config, as_json=options.as_json)


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
