"""The options of `kwire conform`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kwire.cli.cluster_options import ClientSettings
from kwire.cli.errors import CommandFailed, finite
from kwire.cli.options import argument, flag, option, repeated


class ReportNotWritten(CommandFailed):
    """A file of a report cannot be written. Standard output has the run alone, if there was one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformOptions:
    """The options of `kwire conform`, in the order of its help."""

    words: list[str] = argument(
        default=[],
        metavar="[HOST:PORT] [ID]...",
        help="The server, and ids of checks or beginnings of them: quorum, quorum/kip-853.",
    )
    list_checks: bool = flag(
        "--list", help="List the checks with their sentences, and ask no server."
    )
    controller: bool = flag(
        "--controller", help="The server is a controller; by default its APIs decide."
    )
    destructive: bool = flag(
        "--destructive",
        help="Also run checks that change what they cannot take back. Needs --cluster.",
    )
    cluster: str | None = option(
        "--cluster", metavar="ID", help="The id of the cluster, for --destructive."
    )
    read_only: bool = flag("--read-only", help="Create nothing, neither topics nor groups.")
    clean: bool = flag(
        "--clean", help="First remove everything named kwire-conform-*, other runs' too."
    )
    expect: Path | None = option(
        "--expect", metavar="FILE", help="Fail only for what this file does not expect."
    )
    diff: tuple[Path, Path] | None = option(
        "--diff", metavar="A B", help="Compare two results of --save."
    )
    saved: list[Path] = repeated(
        "--from", metavar="FILE", help="Run nothing; report this result of --save."
    )
    restart: str | None = option(
        "--restart", metavar="CMD", help="Restart a server that died with this command."
    )
    time_limit: float | None = option(
        "--time-limit",
        metavar="SECONDS",
        min=1,
        callback=finite,
        show_default=False,
        help="End the run after so long. By default 900.",
    )
    patience: float | None = option(
        "--patience",
        metavar="SECONDS",
        min=0.1,
        max=600,
        callback=finite,
        show_default=False,
        help="Count a server that does not answer as silent after so long. By default between 2 and"
        " 30, ten times the slowest of its first answers. Of a client: the seconds that it may take"
        " for a case, by default 60.",
    )
    as_java: bool = flag(
        "--as-java", help="The server has to be as Apache Kafka: what DIFFERS is FAIL."
    )
    explain: str | None = option(
        "--explain",
        metavar="ID",
        help="Show a check: source, class, and what Kafka answered. Ask no server.",
    )
    kip: int | None = option(
        "--kip",
        metavar="NUMBER",
        help="Show a KIP's sentences with the verdicts of Kafka's releases, as a page with --html.",
    )
    hex_id: str | None = option(
        "--hex", metavar="ID", help="Run one check, and print its bytes, decoded."
    )
    client: bool = flag(
        "--client", help="Check a client: kwire is the cluster. Needs --exec, or --wait."
    )
    execute: str | None = option(
        "--exec",
        metavar="COMMAND",
        help="With --client: run this once a case. {bootstrap}, {task}, {topic}, {group} and"
        " {records} are filled in.",
    )
    wait: bool = flag("--wait", help="With --client: you start the client, once a case.")
    faults: str | None = option(
        "--faults",
        metavar="SCHEDULE",
        help="Run a workload under faults: seed=7,minutes=30,faults=delay|partition, or a file.",
    )
    topology: Path | None = option(
        "--topology", metavar="FILE", help="With --faults: the nodes behind the proxy."
    )
    allow: list[str] = repeated(
        "--allow", metavar="NAME", help="With --faults: an anomaly that is known."
    )
    report_folder: Path | None = option(
        "--report", metavar="FOLDER", help="With --faults: write the reports there."
    )
    name: str | None = option("--name", metavar="NAME", help="The server's name in reports.")
    as_json: bool = flag("--json", help="Print the result as one JSON object.")
    save: Path | None = option("--save", metavar="FILE", help="Also write that JSON to a file.")
    junit: Path | None = option("--junit", metavar="FILE", help="Also write JUnit XML.")
    html: Path | None = option(
        "--html", metavar="FILE", help="Also write a page; needs kwire[conform]."
    )
    verbose: bool = flag("--verbose", "-v", help="Show the checks that passed, too.")
    settings: ClientSettings
