"""`kwire storage recover`: a quorum from the controllers' directories that are left."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kwire.cli.errors import CommandFailed, WrongUsage, usage_errors
from kwire.cli.exit_codes import exit_code
from kwire.cli.options import argument, option, reads_options, repeated
from kwire.cli.output import OutputOptions
from kwire.cli.unpack_limit import UNPACK_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kwire.messages.data.voters_record import Endpoint
    from kwire.quorum_recovery.plan import RecoveryPlan
    from kwire.quorum_recovery.running import AskedController
    from kwire.quorum_recovery.survivor import DamagedLog, Survivor

PATIENCE = 5.0
"""Seconds that a controller of the former quorum has to answer."""


@reads_options
def recover(
    form: OutputOptions,
    directories: list[Path] = argument(
        default=[],
        metavar="DIRECTORY...",
        help="The directories of the controllers that are left, each with its metadata log.",
    ),
    survivor: list[str] = repeated(
        "--survivor",
        metavar="ID=DIRECTORY",
        help="An older copy of the directory of this controller.",
    ),
    endpoint: list[str] = repeated(
        "--endpoint",
        metavar="ID=HOST:PORT",
        help="A controller's new address, also ID=LISTENER://HOST:PORT.",
    ),
    broker: list[Path] = repeated(
        "--broker", metavar="DIRECTORY", help="A broker's directory, to see if it has read further."
    ),
    command_config: Path | None = option(
        "--command-config", metavar="FILE", help="TLS and SASL of the controllers that are asked."
    ),
    apply: bool = option(
        "--apply/--plan", default=False, help="Write, or only say what would be written."
    ),
    cluster_id: str | None = option(
        "--cluster-id", "-t", metavar="ID", help="Type the cluster's id, for --apply."
    ),
    unpack_limit: int = UNPACK_LIMIT,
) -> None:
    """Make a quorum of the controllers that are left, if most are lost or no address is right.

    Stop them first. All whose directories are given become the voters; what only the others had is
    lost. The plan is printed and nothing is changed; with --apply each directory is copied beside
    itself, and the new voters are appended to the most complete log. Then start the controllers.

    \b
    kwire storage recover /var/lib/kafka/metadata
    kwire storage recover /var/lib/kafka/metadata --apply --cluster-id 4L6g3nShT-eMCtK--X86sw
    kwire storage recover dir1 dir2 dir3 --endpoint 1=new1:9093 --endpoint 2=new2:9093
    """
    from kwire.cli.recovery_report import RecoveryReport
    from kwire.quorum_recovery.plan import plan_recovery
    from kwire.quorum_recovery.running import check_none_runs

    output = form.output()
    if apply and cluster_id is None:
        raise WrongUsage("--apply changes the quorum for good: type its id, --cluster-id ID.")
    new_endpoints = _endpoints(endpoint)
    with exit_code(output):
        survivors, damaged = _survivors(directories, survivor, keep_damaged=not apply)
        plan = plan_recovery(survivors, new_endpoints)
        if cluster_id not in (None, plan.cluster_id):
            raise CommandFailed(
                f"the directories are of cluster {plan.cluster_id}, not of {cluster_id}"
            )
        asked = _ask(plan, command_config)
        check_none_runs(plan, asked)
        report = RecoveryReport(
            plan=plan,
            asked=asked,
            damaged=damaged,
            brokers=[_read_broker(folder, plan.cluster_id) for folder in broker],
            applied=apply,
        )
        if apply:
            report.backups = _apply(plan)
        output.show_document(report.document(), report.print)


def _survivors(
    directories: Sequence[Path], named: Sequence[str], *, keep_damaged: bool
) -> tuple[list[Survivor], list[DamagedLog]]:
    """Read the directories. keep_damaged: return damaged ones apart if there are others."""
    from kwire.errors import FileError
    from kwire.quorum_recovery.survivor import examine_damage
    from kwire.quorum_recovery.survivor_report import damage_text

    copies = [_by_id(text, "--survivor ID=DIRECTORY") for text in named]
    folders: list[tuple[int | None, Path]] = [(None, folder) for folder in directories]
    folders += [(node_id, Path(folder)) for node_id, folder in copies]
    if not folders:
        raise WrongUsage("give the directory of a controller that is left.")
    survivors: list[Survivor] = []
    damaged: list[DamagedLog] = []
    for node_id, folder in folders:
        try:
            survivors.append(_read(folder, node_id))
        except FileError as error:
            damaged.append(examine_damage(folder, error))
    if damaged and not (keep_damaged and survivors):
        raise CommandFailed(damage_text(damaged[0]))
    return survivors, damaged


def _read(folder: Path, node_id: int | None) -> Survivor:
    """Read a directory; with a node id, as a copy that is older than the controller's end."""
    from kwire.quorum_recovery.apply import is_in_use
    from kwire.quorum_recovery.survivor import read_survivor

    if is_in_use(folder):
        raise CommandFailed(f"a node runs in {folder}: stop it first")
    found = read_survivor(folder)
    if node_id not in (None, found.node_id):
        raise CommandFailed(f"{folder} is of node {found.node_id}, not of {node_id}")
    return found if node_id is None else replace(found, is_copy=True)


def _read_broker(folder: Path, cluster_id: str) -> Survivor:
    """Read a broker's log. It may run: without a controller nobody adds to it."""
    from kwire.quorum_recovery.survivor import read_survivor

    found = read_survivor(folder)
    if found.meta.cluster_id != cluster_id:
        raise CommandFailed(f"{folder} is of cluster {found.meta.cluster_id}, not of {cluster_id}")
    return found


def _endpoints(texts: Sequence[str]) -> dict[int, list[Endpoint]]:
    from kwire.messages.data.voters_record import Endpoint
    from kwire.net.address import Address

    endpoints: dict[int, list[Endpoint]] = {}
    for text in texts:
        node_id, place = _by_id(text, "--endpoint ID=HOST:PORT")
        listener, _, rest = place.rpartition("://")
        with usage_errors():
            address = Address.parse(rest)
        # Kafka's nodes know their listeners in capital letters, as this one's voter set has them.
        item = Endpoint(name=listener.upper(), host=address.host, port=address.port)
        endpoints.setdefault(node_id, []).append(item)
    return endpoints


def _by_id(text: str, form: str) -> tuple[int, str]:
    from kwire.text.untrusted import whole_number

    name, mark, rest = text.partition("=")
    node_id = whole_number(name, bits=31)
    if node_id is None or not mark or not rest:
        raise WrongUsage(f"{text!r}: write {form}.")
    return node_id, rest


def _ask(plan: RecoveryPlan, config: Path | None) -> list[AskedController]:
    from kwire.cli.event_loop import run
    from kwire.cli.tls_options import client_security
    from kwire.net.secure_connect import SecureConnect
    from kwire.net.security import PLAINTEXT
    from kwire.net.timeouts import Timeouts
    from kwire.quorum_recovery.running import ask_controllers

    security = PLAINTEXT if config is None else client_security(config)
    timeouts = Timeouts(operation=PATIENCE, connect=PATIENCE, request=PATIENCE)
    return run(ask_controllers(plan, SecureConnect(security, timeouts=timeouts)))


def _apply(plan: RecoveryPlan) -> dict[Path, Path]:
    from datetime import UTC, datetime

    from kwire.quorum_recovery.apply import apply_recovery

    for survivor in plan.survivors:
        _check_owner(survivor.folder)
    return apply_recovery(plan, datetime.now(UTC)).backups


def _check_owner(folder: Path) -> None:
    """Raise CommandFailed if the node could not write to what this process would make there."""
    owner = folder.stat().st_uid
    if hasattr(os, "geteuid") and owner != os.geteuid():
        raise CommandFailed(
            f"{folder} belongs to the user of id {owner}, who could not write to what another user"
            f" makes there: run this as that user, sudo -u '#{owner}'"
        )
