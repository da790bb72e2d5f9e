"""`kwire quorum forget`: registrations of controllers that are gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, check_answerable, confirm
from kwire.cli.errors import CommandFailed
from kwire.cli.options import argument, flag
from kwire.cli.output import Column, Output, Table
from kwire.cli.quorum.voters import controllers_of
from kwire.text.phrases import ids_text
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.ghost_controllers import Disarming
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.quorum import QuorumInfo
    from kwire.errors import KwireError
    from kwire.net.negotiation import VersionRange


@asks_cluster(registry.UNREGISTER_CONTROLLER)
def unregister_controller(
    cluster: ClusterOptions,
    output: Output,
    node_ids: list[int] = argument(
        metavar="ID...", help="The node.id of a controller that is gone."
    ),
    force: bool = flag("--force", help="Also one that votes or follows the quorum."),
    disarm: bool = flag(
        "--disarm", help="Before Kafka 4.4: have the registration hold no feature back."
    ),
    yes: bool = YES,
) -> None:
    """Unregister controllers that are gone (KIP-1312). Needs Kafka 4.4.

    A registration that stays behind keeps features from being upgraded. A controller that still
    votes or follows is refused: it would register again.

    No request of older releases removes a registration. With --disarm, the controller is registered
    anew with the versions that all voters support. It stays registered until Kafka 4.4 forgets it.

    \b
    kwire quorum forget 3003 --yes --bootstrap-controller localhost:9093
    kwire quorum forget 3003 --disarm --bootstrap-controller localhost:9093
    """
    ids = list(dict.fromkeys(node_ids))
    if disarm:
        _disarm(cluster, output, ids, yes=yes)
        return

    async def check(admin: AdminClient) -> None:
        quorum = await admin.describe_metadata_quorum()
        for node_id in ids:
            _refuse_participant(quorum, node_id)

    question = f"Forget the registration of {ids_text('controller', ids)}?"
    check_answerable(question, yes=yes)
    if not force:
        cluster.run(check)
    confirm(question, yes=yes)
    outcomes = cluster.run(lambda admin: _forget(admin, ids))
    output.show(
        Table.of_outcomes(
            "controllers",
            [Column(key="id", right=True), Column(key="state")],
            outcomes,
            lambda node_id, _: {"id": node_id, "state": "unregistered"},
            key_values=lambda node_id: {"id": node_id},
        )
    )


async def _forget(admin: AdminClient, node_ids: Sequence[int]) -> Outcomes[int, None]:
    from kwire.admin.outcomes import Outcomes
    from kwire.errors import BrokerError, KwireError, UnsupportedVersion

    outcomes: dict[int, KwireError | None] = {}
    for node_id in node_ids:
        advice = f"kwire quorum forget {node_id} --disarm has it hold no feature back"
        try:
            await admin.unregister_controller(node_id)
            outcomes[node_id] = None
        except UnsupportedVersion as error:
            outcomes[node_id] = UnsupportedVersion(f"{error}; {advice}")
        except BrokerError as error:
            outcomes[node_id] = error
            if error.name == "UNSUPPORTED_VERSION":
                reason = (error.message or "").rstrip(".")
                outcomes[node_id] = BrokerError(error.code, f"{reason}; {advice}")
        except KwireError as error:
            outcomes[node_id] = error
    return Outcomes(outcomes)


def _refuse_participant(quorum: QuorumInfo, node_id: int) -> None:
    """Raise CommandFailed if a controller votes, or fetched from the leader a moment ago."""
    from kwire.admin.quorum import SILENT_MS, is_silent

    if any(voter.replica_id == node_id for voter in quorum.voters):
        raise CommandFailed(
            f"controller {node_id} is a voter: kwire quorum remove-controller {node_id} first, and"
            " stop it; or add --force. Nothing was changed."
        )
    # The leader lists an observer for five minutes after its last fetch.
    fetching = [observer for observer in quorum.observers if not is_silent(quorum, observer)]
    if any(observer.replica_id == node_id for observer in fetching):
        raise CommandFailed(
            f"controller {node_id} fetched from the leader less than {SILENT_MS // 1000} s ago, and"
            " would register again: stop it first, or add --force. Nothing was changed."
        )


def _disarm(cluster: ClusterOptions, output: Output, node_ids: list[int], *, yes: bool) -> None:
    """Register controllers anew with what the voters support; print the versions that change."""
    question = f"Register {ids_text('controller', node_ids)} anew, with what the voters support?"
    check_answerable(question, yes=yes)
    planned = cluster.run(lambda admin: _planned(cluster, admin, node_ids))
    for plan in planned:
        output.warn(f"controller {plan.registration.id}: {harmless('; '.join(plan.seen))}")
        for row in () if yes else _changes(plan):
            output.warn("controller {id}: {feature} {before} → {after}".format(**row))
    needed = [plan for plan in planned if not plan.is_done]
    if needed:
        confirm(question, yes=yes)
        cluster.run(lambda admin: _register(cluster, admin, needed))
    output.show(
        Table(
            "registrations",
            [
                Column(key="id", right=True),
                Column(key="feature"),
                Column(key="before"),
                Column(key="after"),
            ],
            [row for plan in planned for row in _changes(plan)],
        ),
        empty="the registrations hold nothing back that the voters support",
    )


async def _planned(
    cluster: ClusterOptions, admin: AdminClient, node_ids: list[int]
) -> list[Disarming]:
    from kwire.errors import InvalidValue

    async with AsyncExitStack() as stack:
        controllers = await _controllers(cluster, admin, stack)
        try:
            return [await controllers.plan_disarming(node_id) for node_id in node_ids]
        except InvalidValue as error:
            raise CommandFailed(f"{error}. Nothing was changed.") from error


async def _register(
    cluster: ClusterOptions, admin: AdminClient, planned: Sequence[Disarming]
) -> None:
    """Carry out plans, and read the log again for what became of them. Raises CommandFailed."""
    async with AsyncExitStack() as stack:
        controllers = await _controllers(cluster, admin, stack)
        for plan in planned:
            await controllers.disarm(plan)
            now = await controllers.plan_disarming(plan.registration.id)
            if now.before != plan.after:
                raise CommandFailed(
                    f"controller {plan.registration.id} has registered itself in between: it runs."
                )


async def _controllers(
    cluster: ClusterOptions, admin: AdminClient, stack: AsyncExitStack
) -> AdminClient:
    if cluster.controller:
        return admin
    return await stack.enter_async_context(await controllers_of(cluster, admin))


def _changes(plan: Disarming) -> Iterator[dict[str, Any]]:
    """Yield a row for each feature whose versions change."""
    for name in sorted({*plan.before, *plan.after}):
        before, after = plan.before.get(name), plan.after.get(name)
        if before != after:
            yield {
                "id": plan.registration.id,
                "feature": harmless(name),
                "before": _versions(before),
                "after": _versions(after),
            }


def _versions(versions: VersionRange | None) -> str:
    return "-" if versions is None else f"{versions.min_version}-{versions.max_version}"
