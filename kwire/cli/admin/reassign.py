"""`kwire partitions reassign`: plan, apply, verify and cancel moves of partitions (KIP-455)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, repeated
from kwire.cli.output import Column, Output, Table, dry_run_facts, number_columns, text_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kwire.admin import AdminClient
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.reassignment.moving_cluster import MovingCluster
    from kwire.admin.reassignment.plan import ReassignmentPlan, ReplicaMove
    from kwire.admin.reassignment.run import MoveState
    from kwire.admin.topic_partition import TopicPartition

app = command_group("Move partitions to other brokers: plan, apply, cancel.")

REASSIGNMENT_FILE = argument(
    metavar="FILE", help="A plan of `plan` or of kafka-reassign-partitions."
)
MOVE_COLUMNS = [
    Column(key="topic"),
    Column(key="partition", right=True),
    *text_columns("old", "replicas", "adding", "removing"),
]
STATE_COLUMNS = [
    Column(key="topic"),
    Column(key="partition", right=True),
    *text_columns("replicas", "state"),
]
BROKER_COLUMNS = number_columns(
    "broker",
    "adding",
    "removing",
    "replicasBefore",
    "replicasAfter",
    "leadersBefore",
    "leadersAfter",
)


@app.command("plan")
@asks_cluster(registry.LIST_PARTITION_REASSIGNMENTS)
def plan(
    cluster: ClusterOptions,
    output: Output,
    topics: list[str] = argument(default=[], metavar="[TOPIC]...", help="For --rf and --spread."),
    drain: list[int] = repeated(
        metavar="ID", help="Move every replica off this broker. Repeatable."
    ),
    rf: int | None = option("--rf", min=1, help="Give each partition so many replicas."),
    spread: bool = flag("--spread", help="Spread the topics evenly over the brokers."),
    brokers: str | None = option(
        metavar="1,2,3", help="Brokers that may get replicas; by default all."
    ),
    out: Path | None = option(metavar="FILE", help="Write the plan for `apply`."),
) -> None:
    """Plan which replicas move where. Moves as few as needed, evenly, racks apart.

    \b
    kwire partitions reassign plan --drain 3 --out plan.json --bootstrap-server localhost:9092
    kwire partitions reassign plan --rf 3 orders --json > plan.json
    """
    wishes = [wish for wish in (drain, rf, spread) if wish]
    if len(wishes) != 1 or bool(drain) == bool(topics):
        raise WrongUsage("give --drain ID, or --rf N TOPIC..., or --spread TOPIC...")
    targets = None if brokers is None else _ids(brokers)
    from kwire.admin.reassignment.requests import fetch_moving_cluster

    moving = cluster.run(lambda admin: fetch_moving_cluster(admin.driver))
    planned = _planned(moving, drain, rf, topics, targets)
    # An empty plan, too: a file of before would be applied in its place.
    if out is not None:
        from kwire.admin.reassignment.json_file import reassignment_json

        out.write_text(reassignment_json((m.partition, m.new) for m in planned.moves) + "\n")
    _show_plan(output, planned, out)


def _planned(
    moving: MovingCluster,
    leaving: list[int],
    factor: int | None,
    topics: list[str],
    targets: list[int] | None,
) -> ReassignmentPlan:
    if leaving:
        from kwire.admin.reassignment.drain import drain

        return drain(moving, leaving, targets=targets)
    if factor is not None:
        from kwire.admin.reassignment.replication_factor import set_replication_factor

        return set_replication_factor(moving.layout, factor, topics, targets=targets)
    from kwire.admin.reassignment.spread import spread

    return spread(moving.layout, topics, targets=targets)


def _show_plan(output: Output, planned: ReassignmentPlan, out: Path | None) -> None:
    moves = Table("partitions", MOVE_COLUMNS, map(_move_values, planned.moves))
    brokers = Table(
        "brokers",
        BROKER_COLUMNS,
        (
            {
                "broker": change.broker,
                "adding": change.adding,
                "removing": change.removing,
                "replicasBefore": change.replicas_before,
                "replicasAfter": change.replicas_after,
                "leadersBefore": change.leaders_before,
                "leadersAfter": change.leaders_after,
            }
            for change in planned.by_broker
        ),
    )
    for warning in planned.warnings:
        output.warn(warning)
    if output.is_document:
        # The object is itself a file that `apply` and Kafka's tool read: both skip other keys.
        rows = [{**row, "log_dirs": ["any"] * len(row["replicas"])} for row in moves.rows]
        output.print_document(
            {"version": 1, "partitions": rows, **brokers.document, "copies": planned.copies}
        )
        return
    output.show(moves, empty="nothing to move")
    if planned.moves:
        output.say("")
        if output.form in ("table", "wide"):
            output.show(brokers)
        output.say(f"\n{_copies(planned.moves)}" + (f"; the plan is in {out}" if out else ""))


@app.command("apply")
@asks_cluster(registry.ALTER_PARTITION_REASSIGNMENTS)
def alter_partition_reassignments(
    cluster: ClusterOptions,
    output: Output,
    file: Path = REASSIGNMENT_FILE,
    throttle: int | None = option(
        metavar="BYTES", min=1, help="The most that a broker copies in a second."
    ),
    wait: bool = option(
        "--wait/--no-wait", default=True, help="Wait until all partitions have moved."
    ),
    additional: bool = flag("--additional", help="Redirect partitions that move elsewhere."),
    rollback: Path | None = option(metavar="FILE", help="Write where the partitions are now."),
    dry_run: bool = flag("--dry-run", help="Check the file and show what would move."),
    yes: bool = YES,
) -> None:
    """Move partitions as a file says. Shows progress; removes the throttle at the end.

    After Ctrl-C the moves go on, without a throttle; call it again to watch and throttle them.

    \b
    kwire partitions reassign apply plan.json --throttle 50000000 --bootstrap-server localhost:9092
    """
    from kwire.admin.reassignment.requests import fetch_moving_cluster
    from kwire.admin.reassignment.run import check_targets, moves_to

    targets = _targets(file)
    topics = list(dict.fromkeys(key.topic for key in targets))
    now = cluster.run(lambda admin: fetch_moving_cluster(admin.driver, topics))
    check_targets(now, targets, additional=additional)
    moves = moves_to(now, targets)
    if rollback is not None:
        from kwire.admin.reassignment.json_file import reassignment_json

        rollback.write_text(reassignment_json((m.partition, m.old) for m in moves) + "\n")
    if dry_run or not output.is_document:
        facts = dry_run_facts(dry_run)
        table = Table("partitions", MOVE_COLUMNS, map(_move_values, moves), facts=facts)
        if dry_run or output.form in ("table", "wide"):
            output.show(table, empty="nothing to move")
    if dry_run:
        return
    if moves:
        rate = "" if throttle is None else f", at most {throttle} bytes/s per broker"
        confirm(f"{_copies(moves)}{rate}. Begin?", yes=yes)
    outcomes = _run(cluster, output, now, targets, throttle, wait)
    output.show(_states_table(outcomes, targets))


def _run(
    cluster: ClusterOptions,
    output: Output,
    now: MovingCluster,
    targets: Mapping[TopicPartition, Sequence[int]],
    throttle: int | None,
    wait: bool,
) -> Outcomes[TopicPartition, MoveState]:
    from kwire.admin.reassignment.journal import ThrottleJournal
    from kwire.admin.reassignment.run import RunOptions, run_reassignment
    from kwire.cli.admin.reassign_progress import show_removal, shown_progress

    with ThrottleJournal(now.cluster_id) as journal, shown_progress() as progress:
        options = RunOptions(
            rate=throttle,
            wait=wait,
            progress=progress,
            throttle_removed=lambda removal: show_removal(output, removal),
        )
        outcomes = cluster.run(
            lambda admin: run_reassignment(admin.driver, journal, now, targets, options),
        )
        if journal.read():
            output.warn("the throttle stays until kwire partitions reassign verify finds all moved")
    return outcomes


@app.command("verify")
@asks_cluster(registry.LIST_PARTITION_REASSIGNMENTS)
def verify(
    cluster: ClusterOptions,
    output: Output,
    file: Path = REASSIGNMENT_FILE,
    clear_throttles: bool = flag(
        "--clear-throttles", help="Remove those of others too, as Kafka's tool does (brokers)."
    ),
) -> None:
    """Show which partitions of a file have moved. When all have, take a left-over throttle off.

    \b
    kwire partitions reassign verify plan.json --bootstrap-server localhost:9092
    """
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.reassignment import requests
    from kwire.admin.reassignment.run import MoveState, move_states

    targets = _targets(file)

    async def look(admin: AdminClient) -> Outcomes[TopicPartition, MoveState]:
        states = await move_states(admin.driver, targets)
        if MoveState.MOVING not in states.values():
            await _tidy(admin, output)
            if clear_throttles:
                now = await requests.fetch_moving_cluster(
                    admin.driver, list({key.topic for key in targets})
                )
                live = [b.node_id for b in now.layout.brokers.values() if not b.is_fenced]
                await requests.clear_throttles(admin.driver, {key.topic for key in targets}, live)
        return Outcomes(states)

    output.show(_states_table(cluster.run(look), targets))


@app.command("cancel")
@asks_cluster(registry.ALTER_PARTITION_REASSIGNMENTS)
def cancel(
    cluster: ClusterOptions,
    output: Output,
    file: Path | None = argument(
        default=None, metavar="[FILE]", help="Cancel the moves of this plan."
    ),
    all_of_them: bool = flag("--all", help="Cancel every move of the cluster."),
    yes: bool = YES,
) -> None:
    """Take moves back: partitions stay where they were. A throttle that was left over goes, too.

    \b
    kwire partitions reassign cancel plan.json --bootstrap-server localhost:9092
    kwire partitions reassign cancel --all --yes --bootstrap-controller localhost:9093
    """
    if (file is None) != all_of_them:
        raise WrongUsage("give a FILE, or --all.")
    from kwire.admin.outcomes import Outcomes

    partitions = None if file is None else list(_targets(file))
    ongoing = cluster.run(lambda admin: admin.list_partition_reassignments(partitions))
    if ongoing:
        confirm(f"Cancel the moves of {', '.join(map(str, ongoing))}?", yes=yes)

    async def take_back(admin: AdminClient) -> Outcomes[TopicPartition, None]:
        changes: dict[TopicPartition, None] = dict.fromkeys(ongoing)
        outcomes = await admin.alter_partition_reassignments(changes) if changes else Outcomes({})
        await _tidy(admin, output)
        return outcomes

    table = Table.of_outcomes(
        "partitions",
        [*STATE_COLUMNS[:2], *text_columns("state", "replicas")],
        cluster.run(take_back),
        lambda key, _: {
            **_key_values(key),
            "state": "cancelled",
            "replicas": [b for b in ongoing[key].replicas if b not in ongoing[key].adding_replicas],
        },
        key_values=_key_values,
    )
    for row in table.rows:
        # It was done between the list and the request: nothing is left to cancel.
        if row.get("error") == "NO_REASSIGNMENT_IN_PROGRESS":
            row.update(error=None, message=None, state="finished before")
    output.show(table, empty="nothing moves")


async def _tidy(admin: AdminClient, output: Output) -> None:
    """Take a left-over throttle off, unless the kwire that set it still runs."""
    from kwire.admin.errors import ReassignmentRefused
    from kwire.admin.reassignment.journal import ThrottleJournal
    from kwire.admin.reassignment.requests import remove_throttle
    from kwire.cli.admin.reassign_progress import show_removal

    cluster_id = (await admin.describe_cluster()).told_cluster_id()
    try:
        journal = ThrottleJournal(cluster_id)
    except ReassignmentRefused as error:
        output.warn(f"the throttle is left to the command that runs: {error}")
        return
    with journal:
        show_removal(output, await remove_throttle(admin.driver, journal))


def _targets(file: Path) -> dict[TopicPartition, tuple[int, ...]]:
    """Read a file. Raises InvalidValue, and WrongUsage if it names directories."""
    from kwire.admin.reassignment.json_file import ANY_LOG_DIR, read_reassignment
    from kwire.errors import InvalidValue
    from kwire.text.untrusted import read_text

    targets = read_reassignment(read_text(file, InvalidValue), str(file))
    for target in targets:
        if any(directory != ANY_LOG_DIR for directory in target.log_dirs):
            raise WrongUsage(
                f"{file} names a directory for {target.partition}: write any, and move the replica"
                " afterwards with kwire logdirs move."
            )
    return {target.partition: target.replicas for target in targets}


def _states_table(
    outcomes: Outcomes[TopicPartition, MoveState], targets: Mapping[TopicPartition, Sequence[int]]
) -> Table:
    return Table.of_outcomes(
        "partitions",
        STATE_COLUMNS,
        outcomes,
        lambda key, state: {
            **_key_values(key),
            "replicas": list(targets[key]),
            "state": state.value,
        },
        key_values=_key_values,
    )


def _key_values(key: TopicPartition) -> dict[str, Any]:
    return {"topic": key.topic, "partition": key.partition}


def _move_values(move: ReplicaMove) -> dict[str, Any]:
    return {
        **_key_values(move.partition),
        "old": list(move.old),
        "replicas": list(move.new),
        "adding": list(move.adding),
        "removing": list(move.removing),
    }


def _copies(moves: Sequence[ReplicaMove]) -> str:
    copies = sum(len(move.adding) for move in moves)
    partitions = "1 partition changes" if len(moves) == 1 else f"{len(moves)} partitions change"
    return f"{partitions}, {copies} replica{'' if copies == 1 else 's'} to copy"


def _ids(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise WrongUsage(f"--brokers is {text!r}: write ids, as 1,2,3.") from None
