"""`kwire quorum add-controller` and `remove-controller`: plan, show the plan, ask for it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kwire.admin import AdminClient, RaftVoterEndpoint
from kwire.admin.voter_change import Verdict, VoterChange, plan_addition, plan_removal
from kwire.cli.bootstrap import ask
from kwire.cli.failure import Failure, WrongUsage
from kwire.cli.screen import print_json, screen
from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.text.ids import parse_uuid, uuid_text
from kwire.text.printable import harmless

Send = Callable[[AdminClient, UUID, VoterChange], Awaitable[None]]

STYLES = {Verdict.FINE: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "red"}


@dataclass(frozen=True, slots=True)
class Change:
    """The options that both commands have."""

    voter_id: int
    directory: str | None
    dry_run: bool
    force: bool
    timeout: float
    as_json: bool

    @property
    def directory_id(self) -> UUID | None:
        """The directory id that was given. Raises WrongUsage."""
        try:
            return None if self.directory is None else parse_uuid(self.directory)
        except InvalidValue as error:
            raise WrongUsage(f"{error}.") from error


def add(change: Change, client: AdminClient, at_controllers: bool, endpoints: list[str]) -> None:
    """Add a voter."""
    given = [_endpoint(text) for text in endpoints]
    directory_id = change.directory_id

    async def plan(admin: AdminClient) -> VoterChange:
        async with AsyncExitStack() as closing:
            controllers = admin
            if not at_controllers and not given:
                quorum = await admin.describe_metadata_quorum()
                known = [one for node in quorum.nodes.values() for one in node.endpoints]
                addresses = [str(Address(one.host, one.port)) for one in known]
                controllers = await closing.enter_async_context(
                    AdminClient(bootstrap_controllers=addresses, timeout=change.timeout)
                )
            return await plan_addition(
                admin, controllers, change.voter_id, directory_id=directory_id, endpoints=given
            )

    async def send(admin: AdminClient, directory_id: UUID, planned: VoterChange) -> None:
        await admin.add_raft_voter(change.voter_id, directory_id, planned.endpoints)

    _carry_out(change, client, plan, send, "add", "Added")


def remove(change: Change, client: AdminClient) -> None:
    """Remove a voter."""
    directory_id = change.directory_id

    async def plan(admin: AdminClient) -> VoterChange:
        return await plan_removal(admin, change.voter_id, directory_id=directory_id)

    async def send(admin: AdminClient, directory_id: UUID, planned: VoterChange) -> None:
        await admin.remove_raft_voter(change.voter_id, directory_id)

    _carry_out(change, client, plan, send, "remove", "Removed")


def _carry_out(
    change: Change,
    client: AdminClient,
    plan: Callable[[AdminClient], Awaitable[VoterChange]],
    send: Send,
    verb: str,
    done: str,
) -> None:
    async def change_voters(admin: AdminClient) -> VoterChange:
        planned = await plan(admin)
        if change.dry_run:
            return planned
        if planned.problems and not change.force:
            raise Failure(f"cannot {verb} controller {change.voter_id}: {_sentence(planned)}.")
        if planned.directory_id is None or (verb == "add" and not planned.endpoints):
            raise Failure(f"what is missing cannot be inferred: {_sentence(planned)}.")
        for warning in planned.warnings:
            screen(stderr=True).print(f"Warning: {warning}.", style="yellow")
        await send(admin, planned.directory_id, planned)
        return planned

    planned = ask(client, change_voters)
    if change.as_json:
        print_json(_data(planned, done=not change.dry_run))
    elif change.dry_run:
        _print_plan(planned, verb)
    else:
        screen().print(f"{done} controller {_described(planned)}")
    if change.dry_run and planned.problems:
        raise Failure(f"controller {change.voter_id} cannot be {done.lower()}.")


def _sentence(planned: VoterChange) -> str:
    return "; ".join(harmless(text) for text in planned.problems)


def _described(planned: VoterChange) -> str:
    """In the words of Kafka's own tool."""
    directory_id = uuid_text(planned.directory_id) if planned.directory_id else "unknown"
    endpoints = ", ".join(harmless(str(one)) for one in planned.endpoints)
    where = f" and endpoints: {endpoints}" if endpoints else ""
    return f"{planned.voter_id} with directory id {directory_id}{where}"


def _print_plan(planned: VoterChange, verb: str) -> None:
    from rich.text import Text

    console = screen()
    doing = {"add": "adding", "remove": "removing"}[verb]
    console.print(f"DRY RUN of {doing} controller {_described(planned)}")
    for check in planned.checks:
        word = (f"  {check.verdict.value:8}", STYLES[check.verdict])
        console.print(Text.assemble(word, harmless(check.text)))


def _data(planned: VoterChange, *, done: bool) -> dict[str, Any]:
    return {
        "id": planned.voter_id,
        "directoryId": uuid_text(planned.directory_id) if planned.directory_id else None,
        "endpoints": [str(one) for one in planned.endpoints],
        "done": done,
        "checks": [{"verdict": one.verdict.value, "text": one.text} for one in planned.checks],
    }


def _endpoint(text: str) -> RaftVoterEndpoint:
    """`CONTROLLER://localhost:9093`. Raises WrongUsage."""
    match = re.fullmatch(r"(?P<name>[\w.-]+)://(?P<address>.+)", text)
    if match is None:
        raise WrongUsage(f"{text!r} is no endpoint: write NAME://HOST:PORT, NAME as in listeners.")
    try:
        address = Address.parse(match["address"])
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
    return RaftVoterEndpoint(name=match["name"], host=address.host, port=address.port)
