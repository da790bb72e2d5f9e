"""`kwire migration verify`: ZooKeeper against the metadata log, or alone before there is a copy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.event_loop import run
from kwire.cli.findings import findings_table, show_findings
from kwire.cli.migration.options import MigrationOptions, asks_both_sides
from kwire.cli.options import option
from kwire.cli.output import Output
from kwire.cli.screen import screen
from kwire.cli.secret_input import read_secret
from kwire.cli.waiting_notice import waiting_notice

if TYPE_CHECKING:
    from kwire.migration.operator.verification import Verification
    from kwire.zookeeper.password_encoder import PasswordEncoder


@asks_both_sides
def verify(
    options: MigrationOptions,
    output: Output,
    password_encoder_secret: Path | None = option(
        "--password-encoder-secret",
        metavar="FILE",
        help="password.encoder.secret of the brokers, to compare passwords; - for stdin.",
    ),
) -> None:
    """Compare ZooKeeper with the metadata log whole, and tell what differs and why.

    Before there is a copy, check ZooKeeper for what would stop one, or be copied and do harm;
    --bootstrap-controller may be left out then. Secrets are compared and never printed. Exit code
    1 for a problem, or if nothing could be compared.

    \b
    kwire migration verify --zookeeper zk1:2181/kafka --bootstrap-controller c1:9093
    kwire migration verify --zookeeper zk1:2181/kafka
    """
    if not options.zookeeper:
        raise WrongUsage("give --zookeeper: without it there is nothing to verify.")
    encoder = _encoder(password_encoder_secret)
    with shown_progress() as progress:
        result = run(_verify(options, encoder, progress))
    table = findings_table(result.findings, _facts(result, whole=output.is_document))
    show_findings(output, table, result.findings, failing=("problem", "unknown"))


def _encoder(file: Path | None) -> PasswordEncoder | None:
    if file is None:
        return None
    from kwire.zookeeper.password_cipher import PasswordNotDecoded, require_ciphers
    from kwire.zookeeper.password_encoder import PasswordEncoder

    try:
        require_ciphers()
    except PasswordNotDecoded as error:
        raise CommandFailed(f"--password-encoder-secret: {error}") from error
    secret = read_secret(file, "password encoder secret", "--password-encoder-secret")
    return PasswordEncoder(secret=secret)


async def _verify(
    options: MigrationOptions,
    encoder: PasswordEncoder | None,
    progress: Callable[[str, int, int], object],
) -> Verification:
    from kwire.migration.operator.verification import verify_sides

    async with options.sides() as sides, waiting_notice(lambda: sides.awaited, options.timeout):
        return await verify_sides(sides, encoder=encoder, progress=progress)


def _facts(result: Verification, *, whole: bool) -> dict[str, Any]:
    """Return the facts of the object; `whole` with every difference."""
    from kwire.cli.migration.data import difference_document

    facts: dict[str, Any] = {
        "compared": result.is_compared,
        "offset": result.offset,
        "entries": result.entries,
        "looks": result.looks,
        "seconds": round(result.seconds, 3),
    }
    if whole:
        facts["differences"] = [*map(difference_document, result.differences)]
        facts["moving"] = list(result.moving)
    return facts


@contextmanager
def shown_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show on a terminal's stderr how much was read; in a pipe nothing."""
    if not sys.stderr.isatty():
        yield lambda noun, done, total: None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(bar_width=20)
    with Progress(*columns, console=screen(stderr=True), transient=True) as bar:
        task = bar.add_task("connecting", total=None)

        def show(noun: str, done: int, total: int) -> None:
            bar.update(
                task, description=progress_text(noun, done, total), completed=done, total=total
            )

        yield show


def progress_text(noun: str, done: int, total: int) -> str:
    """Return how much was read; of what there is none, the noun alone."""
    return f"{noun} {done}/{total}" if total else f"{noun}: none"
