"""`kwire conform`: checks any server that claims to speak Kafka's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kwire.cli.conform.options import ConformOptions, ReportNotWritten
from kwire.cli.errors import WrongUsage, is_wrong_value, usage_errors
from kwire.cli.options import reads_options
from kwire.cli.output import Output, OutputForm, error_document
from kwire.cli.profiles import Profile, read_profile

if TYPE_CHECKING:
    from kwire.conform.suite import SuiteOptions
    from kwire.net.address import Address

OF_SERVERS = (
    *("controller", "destructive", "cluster", "read_only"),
    *("clean", "restart", "as_java", "kip"),
)
"""Options that a client has no use for."""


@reads_options
def conform(options: ConformOptions) -> None:
    """Check that a server, or a client, keeps to Kafka's protocol, sentence by sentence.

    Each check has an id, a sentence and its source. PASS, INFO, SKIPPED; DIFFERS: legal, unlike
    Apache Kafka; FAIL; DIED: the server is gone. Exit code 1 for FAIL and DIED, and if all checks
    were SKIPPED; with --expect for whatever is not as expected. Topics and groups named
    kwire-conform-* are created, and removed. A server to try: `kwire demo --keep --ports 9093`.
    docs/conformance/expectations has files for --expect of what Kafka's releases are known for.

    \b
    kwire conform localhost:9092
    kwire conform localhost:9093 quorum versions/kip-511 --controller
    kwire conform localhost:9092 --hex versions/kip-511/1
    kwire conform localhost:9092 --expect kafka-4.3.1.yaml --junit conform.xml --save new.json
    kwire conform localhost:9092 --patience 20
    kwire conform --diff old.json new.json
    kwire conform --client --exec 'python my.py {bootstrap} {task} {topic} {group}'
    kwire conform --faults seed=7,minutes=30 --topology cluster.yaml
    """
    if options.faults is not None:
        from kwire.cli.conform.faults import run_faults

        run_faults(options.faults, options)
        return
    if options.topology or options.allow or options.report_folder:
        raise WrongUsage("--topology, --allow and --report belong to --faults.")
    if not options.client and (options.execute or options.wait):
        raise WrongUsage("--exec and --wait belong to --client.")
    for name in OF_SERVERS if options.client else ():
        if getattr(options, name):
            raise WrongUsage(f"--{name.replace('_', '-')} is for servers: not with --client.")
    if any(_offline_forms(options)):
        _offline(options)
        return
    if options.client:
        from kwire.cli.conform.client import check_client

        check_client(options)
        return
    profile = read_profile(options.settings.profile)
    address, ids = _address(options.words, profile, options.controller)
    if options.hex_id is not None and ids:
        raise WrongUsage("--hex has the one id of the check to run: leave the others out.")
    ids = (options.hex_id,) if options.hex_id else ids
    _run(address, _suite_options(options, ids, profile), options)


def _run(address: Address, suite: SuiteOptions, options: ConformOptions) -> None:
    """Run, and report; if it fails as a whole and JSON was asked for, the error is the object."""
    from kwire.cli.conform import check_bytes, run

    try:
        if options.hex_id is not None:
            check_bytes.show(address, suite, options.hex_id, as_json=options.as_json)
        else:
            run.run_and_report(address, suite, options)
    except (typer.Exit, WrongUsage, ReportNotWritten):  # the last: a run is printed, or nothing
        raise
    except Exception as error:
        if is_wrong_value(error):
            raise WrongUsage(f"{error}.") from error
        if options.as_json:
            Output(OutputForm.JSON).print_document(error_document(error))
        raise


def _address(
    words: list[str], profile: Profile, controller: bool
) -> tuple[Address, tuple[str, ...]]:
    """Return the server and the ids: an address has a colon, an id has none.

    Raises WrongUsage.
    """
    from kwire.admin.bootstrap import Bootstrap

    if words and ":" in words[0]:
        text, ids = words[0], words[1:]
    else:
        servers, controllers = profile.bootstrap(controllers_first=controller)
        text, ids = (servers or controllers or "").split(",")[0], words
    if not text:
        raise WrongUsage("say which server: kwire conform HOST:PORT, or --profile NAME.")
    with usage_errors():
        return Bootstrap.of(text, None).addresses[0], tuple(ids)


def _spoilt_cluster(options: ConformOptions) -> str | None:
    """Return the id of the cluster that may be spoilt, None for none. Raises WrongUsage."""
    if options.destructive and not options.cluster:
        raise WrongUsage(
            "--destructive spoils the cluster: type its id, --cluster ID (`kwire cluster id`)."
        )
    if options.cluster is not None and not options.destructive:
        raise WrongUsage("--cluster belongs to --destructive.")
    return options.cluster


def _suite_options(options: ConformOptions, ids: tuple[str, ...], profile: Profile) -> SuiteOptions:
    from kwire.cli.tls_options import client_security
    from kwire.conform.registry import check_of, select
    from kwire.conform.restart import restart_by
    from kwire.conform.runner import RUN_LIMIT
    from kwire.conform.suite import SuiteOptions
    from kwire.conform.vocabulary import ServerRole
    from kwire.net.security import PLAINTEXT

    cluster = _spoilt_cluster(options)
    read_only = options.read_only or profile.read_only
    if read_only and cluster:
        raise WrongUsage("--destructive excludes --read-only, and a read-only profile.")
    with usage_errors():
        if len(ids) == 1 and ids[0].count("/") >= 2:
            ids = (check_of(ids[0]).id,)
        select(ids)
    config = options.settings.command_config or profile.command_config
    return SuiteOptions(
        ids=ids,
        security=client_security(config) if config else PLAINTEXT,
        role=ServerRole.CONTROLLER if options.controller else None,
        cluster=cluster,
        read_only=read_only,
        clean=options.clean,
        restart=restart_by(options.restart) if options.restart else None,
        limit=options.time_limit or RUN_LIMIT,
        patience=options.patience,
        as_java=options.as_java,
    )


def _offline_forms(options: ConformOptions) -> tuple[bool, ...]:
    """Return which of the forms that ask no server are asked for."""
    return (
        options.list_checks,
        options.explain is not None,
        options.kip is not None,
        bool(options.diff),
        bool(options.saved),
    )


def _offline(options: ConformOptions) -> None:
    """Do what needs no server: list, compare, report again. Raises WrongUsage."""
    from kwire.cli.conform import explain, files

    if sum(_offline_forms(options)) > 1:
        raise WrongUsage("--list, --explain, --kip, --diff and --from exclude each other.")
    with usage_errors():
        if options.list_checks and options.client:
            from kwire.cli.conform.client import list_cases

            list_cases(options.words, as_json=options.as_json)
        elif options.list_checks:
            files.list_checks(options.words, as_json=options.as_json)
        elif options.words:
            words = " ".join(options.words)
            raise WrongUsage(
                f"--explain, --kip, --diff and --from ask no server: leave out {words}."
            )
        elif options.explain is not None:
            explain.explain(options.explain)
        elif options.kip is not None:
            explain.show_kip(options.kip, options.html, as_json=options.as_json)
        elif options.diff:
            files.compare(*options.diff, as_json=options.as_json)
        else:
            files.report_again(options.saved, options)
