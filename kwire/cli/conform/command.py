"""`kwire conform`: checks any server that claims to speak Kafka's protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kwire.cli.cluster_options import COMMAND_CONFIG, PROFILE
from kwire.cli.conform.options import ReportNotWritten, ReportOptions
from kwire.cli.errors import WrongUsage, finite
from kwire.cli.output import Output, OutputForm, error_document
from kwire.cli.profiles import Profile, read_profile

if TYPE_CHECKING:
    from kwire.conform.suite import SuiteOptions
    from kwire.net.address import Address

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[HOST:PORT] [ID]...",
        help="The server, and ids of checks or beginnings of them: quorum, quorum/kip-853.",
    ),
]
List = Annotated[
    bool, typer.Option("--list", help="List the checks with their sentences, and ask no server.")
]
Controller = Annotated[
    bool,
    typer.Option("--controller", help="The server is a controller; by default its APIs decide."),
]
Destructive = Annotated[
    bool,
    typer.Option(
        "--destructive",
        help="Also run checks that change what they cannot take back. Needs --cluster.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ID", help="The id of the cluster, for --destructive."),
]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Create nothing, neither topics nor groups.")
]
Clean = Annotated[
    bool,
    typer.Option("--clean", help="First remove everything named kwire-conform-*, other runs' too."),
]
Expect = Annotated[
    Path | None,
    typer.Option("--expect", metavar="FILE", help="Fail only for what this file does not expect."),
]
Diff = Annotated[
    tuple[Path, Path] | None,
    typer.Option("--diff", metavar="A B", help="Compare two results of --save."),
]
From = Annotated[
    list[Path] | None,
    typer.Option("--from", metavar="FILE", help="Run nothing; report this result of --save."),
]
RestartBy = Annotated[
    str | None,
    typer.Option("--restart", metavar="CMD", help="Restart a server that died with this command."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        min=1,
        callback=finite,
        show_default=False,
        help="End the run after so long. By default 900.",
    ),
]
Patience = Annotated[
    float | None,
    typer.Option(
        "--patience",
        metavar="SECONDS",
        min=0.1,
        max=600,
        callback=finite,
        show_default=False,
        help="Count a server that does not answer as silent after so long. By default between 2 and"
        " 30, ten times the slowest of its first answers.",
    ),
]
Faults = Annotated[
    str | None,
    typer.Option(
        "--faults",
        metavar="SCHEDULE",
        help="Run a workload under faults: seed=7,minutes=30,faults=delay|partition, or a file.",
    ),
]
Topology = Annotated[
    Path | None,
    typer.Option("--topology", metavar="FILE", help="With --faults: the nodes behind the proxy."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="NAME", help="With --faults: an anomaly that is known."),
]
ReportFolder = Annotated[
    Path | None,
    typer.Option("--report", metavar="FOLDER", help="With --faults: write the reports there."),
]
Hex = Annotated[
    str | None,
    typer.Option("--hex", metavar="ID", help="Run one check, and print its bytes, decoded."),
]
Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="The server's name in reports.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Save = Annotated[
    Path | None,
    typer.Option("--save", metavar="FILE", help="Also write that JSON to a file."),
]
Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write a page; needs kwire[conform]."),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the checks that passed, too.")]


def conform(
    words: Words = None,
    list_checks: List = False,
    controller: Controller = False,
    destructive: Destructive = False,
    cluster: Cluster = None,
    read_only: ReadOnly = False,
    clean: Clean = False,
    expect: Expect = None,
    diff: Diff = None,
    saved: From = None,
    restart: RestartBy = None,
    time_limit: TimeLimit = None,
    patience: Patience = None,
    hex_id: Hex = None,
    faults: Faults = None,
    topology: Topology = None,
    allow: Allow = None,
    report_folder: ReportFolder = None,
    name: Name = None,
    as_json: Json = False,
    save: Save = None,
    junit: Junit = None,
    html: Html = None,
    verbose: Verbose = False,
    command_config: COMMAND_CONFIG = None,
    profile: PROFILE = None,
) -> None:
    """Check that a server keeps to Kafka's protocol, sentence by sentence.

    Each check has an id, a sentence and its source. PASS, INFO, SKIPPED; DIFFERS: legal, unlike
    Apache Kafka; FAIL; DIED: the server is gone. Exit code 1 for FAIL and DIED, and if all checks
    were SKIPPED; with --expect for whatever is not as expected. Topics and groups named
    kwire-conform-* are created, and removed.

    \b
    kwire conform localhost:9092
    kwire conform localhost:9093 quorum versions/kip-511 --controller
    kwire conform localhost:9092 --hex versions/kip-511/1
    kwire conform localhost:9092 --expect kafka-4.3.1.yaml --junit conform.xml --save new.json
    kwire conform localhost:9092 --patience 20
    kwire conform --diff old.json new.json
    kwire conform --faults seed=7,minutes=30 --topology cluster.yaml
    """
    if faults is not None:
        _faults(faults, topology, allow, report_folder, name, command_config)
        return
    if topology or allow or report_folder:
        raise WrongUsage("--topology, --allow and --report belong to --faults.")
    report = ReportOptions(
        as_json=as_json,
        verbose=verbose,
        name=name or "",
        expect=expect,
        save=save,
        junit=junit,
        html=html,
    )
    words = words or []
    if list_checks or diff or saved:
        _check_offline(list_checks, diff, saved)
        _offline(words, list_checks, diff, saved, report)
        return
    chosen = read_profile(profile)
    address, ids = _address(words, chosen, controller)
    if hex_id is not None and ids:
        raise WrongUsage("--hex has the one id of the check to run: leave the others out.")
    options = _options(
        ids=(hex_id,) if hex_id else ids,
        config=command_config or chosen.command_config,
        controller=controller,
        cluster=_typed_cluster(cluster, destructive),
        read_only=read_only or chosen.read_only,
        clean=clean,
        restart=restart,
        time_limit=time_limit,
        patience=patience,
    )
    _run(address, options, report, hex_id)


def _faults(
    schedule: str,
    topology: Path | None,
    allow: list[str] | None,
    into: Path | None,
    name: str | None,
    config: Path | None,
) -> None:
    from kwire.cli.conform.faults import FaultsOptions, run_faults

    options = FaultsOptions(
        schedule=schedule, topology=topology, allow=tuple(allow or ()), into=into, name=name or ""
    )
    run_faults(options, config)


def _run(
    address: Address, options: SuiteOptions, report: ReportOptions, hex_id: str | None
) -> None:
    """Run, and report; if it fails as a whole and JSON was asked for, the error is the object."""
    from kwire.cli.conform import check_bytes, run

    try:
        if hex_id is not None:
            check_bytes.show(address, options, hex_id, as_json=report.as_json)
        else:
            run.run_and_report(address, options, report)
    except (typer.Exit, WrongUsage, ReportNotWritten):  # the last: the result is printed
        raise
    except Exception as error:
        if _is_usage(error):
            raise WrongUsage(f"{error}.") from error
        if report.as_json:
            Output(OutputForm.JSON).print_document(error_document(error))
        raise


def _is_usage(error: Exception) -> bool:
    from kwire.errors import InvalidValue

    return isinstance(error, InvalidValue)


def _address(
    words: list[str], profile: Profile, controller: bool
) -> tuple[Address, tuple[str, ...]]:
    """Return the server and the ids: an address has a colon, an id has none.

    Raises WrongUsage.
    """
    from kwire.admin.bootstrap import Bootstrap
    from kwire.errors import InvalidValue

    if words and ":" in words[0]:
        text, ids = words[0], words[1:]
    else:
        servers, controllers = profile.bootstrap(controllers_first=controller)
        text, ids = (servers or controllers or "").split(",")[0], words
    if not text:
        raise WrongUsage("say which server: kwire conform HOST:PORT, or --profile NAME.")
    try:
        return Bootstrap.of(text, None).addresses[0], tuple(ids)
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error


def _typed_cluster(cluster: str | None, destructive: bool) -> str | None:
    """Return the id of the cluster that may be spoilt, None for none. Raises WrongUsage."""
    if destructive and not cluster:
        raise WrongUsage(
            "--destructive spoils the cluster: type its id, --cluster ID (`kwire cluster id`)."
        )
    if cluster is not None and not destructive:
        raise WrongUsage("--cluster belongs to --destructive.")
    return cluster


def _options(*, config: Path | None, controller: bool, **values: Any) -> SuiteOptions:
    from kwire.cli.tls_options import client_security
    from kwire.conform.registry import check_of, select
    from kwire.conform.restart import restart_by
    from kwire.conform.runner import RUN_LIMIT
    from kwire.conform.suite import SuiteOptions
    from kwire.conform.vocabulary import ServerRole
    from kwire.errors import InvalidValue
    from kwire.net.security import PLAINTEXT

    if values["read_only"] and values["cluster"]:
        raise WrongUsage("--destructive excludes --read-only, and a read-only profile.")
    restart, limit = values.pop("restart"), values.pop("time_limit")
    try:
        if len(values["ids"]) == 1 and values["ids"][0].count("/") >= 2:
            values["ids"] = (check_of(values["ids"][0]).id,)
        select(values["ids"])
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
    return SuiteOptions(
        security=client_security(config) if config else PLAINTEXT,
        role=ServerRole.CONTROLLER if controller else None,
        restart=restart_by(restart) if restart else None,
        limit=limit or RUN_LIMIT,
        **values,
    )


def _check_offline(*asked: object) -> None:
    if sum(map(bool, asked)) > 1:
        raise WrongUsage("--list, --diff and --from exclude each other.")


def _offline(
    words: list[str],
    list_checks: bool,
    diff: tuple[Path, Path] | None,
    saved: list[Path] | None,
    report: ReportOptions,
) -> None:
    """Do what needs no server: list, compare, report again. Raises WrongUsage."""
    from kwire.cli.conform import files
    from kwire.errors import InvalidValue

    try:
        if list_checks:
            files.list_checks(words, as_json=report.as_json)
        elif words:
            raise WrongUsage("--diff and --from ask no server, and run no checks.")
        elif diff:
            files.compare(*diff, as_json=report.as_json)
        else:
            files.report_again(saved or [], report)
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
