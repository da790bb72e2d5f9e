"""`kwire transactions fence` and `terminate`: a new epoch ends a producer and its transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.admin.transactions import TransactionalIds
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.options import flag
from kwire.cli.output import Column, Output, Table, dry_run_facts, number_columns

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.errors import KwireError

DRY_RUN = flag("--dry-run", help="Check that the ids exist, and change nothing.")


@asks_cluster(registry.FENCE_PRODUCERS)
def fence_producers(
    cluster: ClusterOptions,
    output: Output,
    *,
    ids: TransactionalIds,
    force: bool = flag("--force", help="Also ids that do not exist: they exist after that."),
    dry_run: bool = DRY_RUN,
    yes: bool = YES,
) -> None:
    """Fence producers: their writes are refused from then on.

    Their open transactions are aborted. A producer that is started anew gets the next epoch.

    \b
    kwire transactions fence orders-1 --yes --bootstrap-server localhost:9092
    """
    _new_epochs(cluster, output, ids.names(), "Fence", force=force, dry_run=dry_run, yes=yes)


@asks_cluster(registry.FORCE_TERMINATE_TRANSACTION)
def force_terminate_transaction(
    cluster: ClusterOptions,
    output: Output,
    *,
    ids: TransactionalIds,
    dry_run: bool = DRY_RUN,
    yes: bool = YES,
) -> None:
    """Abort open transactions through their coordinators (KIP-939).

    Their producers are fenced, as by `fence`.

    \b
    kwire transactions terminate orders-1 --yes --bootstrap-server localhost:9092
    """
    _new_epochs(cluster, output, ids.names(), "Terminate", force=False, dry_run=dry_run, yes=yes)


def _new_epochs(
    cluster: ClusterOptions,
    output: Output,
    names: list[str],
    verb: str,
    *,
    force: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Give ids a new epoch, those left out that do not exist, and show the outcomes."""
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.producers import ProducerIdAndEpoch

    if not dry_run:
        confirm(f"{verb} {', '.join(names)}, and abort what is open?", yes=yes)

    async def change(admin: AdminClient) -> dict[str, ProducerIdAndEpoch | KwireError]:
        # A request for a new epoch creates an id that does not exist: a slip of the pen stays.
        described = await admin.describe_transactions(names)
        refused: dict[str, ProducerIdAndEpoch | KwireError] = {}
        if dry_run or not force:
            refused.update(described.failed)
        if dry_run:
            now = {
                name: ProducerIdAndEpoch(
                    producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch
                )
                for name, transaction in described.items()
            }
            return {**refused, **now}
        fenced = await admin.fence_producers([name for name in names if name not in refused])
        return {**refused, **fenced.entries()}

    results = cluster.run(change)
    columns = [
        Column(key="transactionalId"),
        *number_columns("producerId", "producerEpoch"),
    ]

    def row(name: str, identity: ProducerIdAndEpoch) -> dict[str, Any]:
        return {
            "transactionalId": name,
            "producerId": identity.producer_id,
            "producerEpoch": identity.producer_epoch,
        }

    ordered = Outcomes({name: results[name] for name in names if name in results})
    facts = dry_run_facts(dry_run)
    output.show(Table.of_outcomes("producers", columns, ordered, row, facts=facts))
