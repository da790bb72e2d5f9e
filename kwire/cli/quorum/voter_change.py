"""The part that `kwire quorum add-controller` and `remove-controller` share.

Make a plan, print or refuse it, send the change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kwire.cli.cluster_options import ClusterOptions
from kwire.cli.confirm import check_answerable, confirm
from kwire.cli.errors import CommandFailed, usage_errors
from kwire.cli.options import flag, option
from kwire.cli.output import Output
from kwire.cli.screen import screen
from kwire.text.ids import parse_uuid, uuid_text
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.voter_change_plan import VoterChangePlan

DIRECTORY_ID = option(
    metavar="UUID",
    help="Its directory id, as base64, hex or dashed; by default the one the leader knows.",
)
DRY_RUN = flag("--dry-run", help="Check it against the cluster, and change nothing.")
FORCE = flag("--force", help="Ask for it even where the checks see a problem.")

STYLES = {"ok": "green", "warning": "yellow", "problem": "red"}
"""By the value of a CheckVerdict."""


@dataclass(frozen=True, slots=True)
class VoterChangeOptions:
    """The options that both commands have."""

    voter_id: int
    directory: str | None
    dry_run: bool
    force: bool
    yes: bool = False

    @property
    def directory_id(self) -> UUID | None:
        """The directory id, parsed; None if none was given. Raises WrongUsage."""
        with usage_errors():
            return None if self.directory is None else parse_uuid(self.directory)


def change_voters(
    cluster: ClusterOptions,
    output: Output,
    options: VoterChangeOptions,
    plan: Callable[[AdminClient], Awaitable[VoterChangePlan]],
    send: Callable[[AdminClient, UUID, VoterChangePlan], Awaitable[None]],
    verb: str,
    done: str,
) -> None:
    """Plan a change, print the plan or send the change, and print the result.

    verb, done: `add` and `Added`, or `remove` and `Removed`, which is asked first as it cannot be
    taken back without the directory id.

    Raises CommandFailed if a check sees a problem, unless options.force is set, and if the
    directory id or the endpoints are not known.
    """

    def draw() -> None:
        if options.dry_run:
            _print_plan(planned, verb)
        else:
            screen().print(f"{done} controller {_described(planned)}")

    asks = verb == "remove" and not options.dry_run
    question = f"Take controller {options.voter_id} out of the voters?"
    if asks:
        check_answerable(question, yes=options.yes)
    planned = cluster.run(plan)
    if not options.dry_run:
        directory_id = _checked(planned, options, verb)
        for warning in planned.warnings:
            output.warn(warning)
        if asks:
            confirm(question, yes=options.yes)
        cluster.run(lambda admin: send(admin, directory_id, planned))
    output.show_document(plan_document(planned, done=not options.dry_run), draw)
    if options.dry_run and planned.problems:
        output.failed = True
        output.warn(f"controller {options.voter_id} cannot be {done.lower()}")


def _checked(planned: VoterChangePlan, options: VoterChangeOptions, verb: str) -> UUID:
    """Return the directory id of a plan that may be carried out. Raises CommandFailed."""
    if planned.problems and not options.force:
        raise CommandFailed(f"cannot {verb} controller {options.voter_id}: {_sentence(planned)}.")
    if planned.directory_id is None or (verb == "add" and not planned.endpoints):
        raise CommandFailed(f"what is missing cannot be inferred: {_sentence(planned)}.")
    return planned.directory_id


def _sentence(planned: VoterChangePlan) -> str:
    return "; ".join(harmless(text) for text in planned.problems)


def _described(planned: VoterChangePlan) -> str:
    # The words of Kafka's MetadataQuorumCommand, so that scripts find what they look for.
    directory_id = uuid_text(planned.directory_id) if planned.directory_id else "unknown"
    endpoints = ", ".join(harmless(str(endpoint)) for endpoint in planned.endpoints)
    suffix = f" and endpoints: {endpoints}" if endpoints else ""
    return f"{planned.voter_id} with directory id {directory_id}{suffix}"


def _print_plan(planned: VoterChangePlan, verb: str) -> None:
    doing = {"add": "adding", "remove": "removing"}[verb]
    screen().print(f"DRY RUN of {doing} controller {_described(planned)}")
    print_checks(planned)


def print_checks(planned: VoterChangePlan) -> None:
    """Print each check of a plan with its verdict."""
    from rich.text import Text

    console = screen()
    for check in planned.checks:
        verdict = check.verdict.value
        word = (f"  {verdict:8}", STYLES[verdict])
        console.print(Text.assemble(word, harmless(check.text)))


def plan_document(planned: VoterChangePlan, *, done: bool) -> dict[str, Any]:
    """Return a plan as a JSON object. done: True if it was carried out."""
    return {
        "id": planned.voter_id,
        "directoryId": uuid_text(planned.directory_id) if planned.directory_id else None,
        "endpoints": [str(endpoint) for endpoint in planned.endpoints],
        "done": done,
        "checks": [
            {"verdict": check.verdict.value, "text": check.text} for check in planned.checks
        ],
    }
