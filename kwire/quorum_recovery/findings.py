"""Sentences about a recovery: what may be lost, who is ahead, what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from kwire.logdir.names import METADATA_FOLDER
from kwire.net.address import Address
from kwire.quorum_recovery.plan import RecoveryPlan, compare, voter_text
from kwire.quorum_recovery.survivor import Survivor
from kwire.text.phrases import count, ids_text, joined, listed
from kwire.text.times import moment

HOUR_MS = 60 * 60 * 1000


def losses(plan: RecoveryPlan) -> Iterator[str]:
    """Yield what may be missing afterwards, and what will be; nothing of a recovery that is done.

    1. With a majority of the voters, everything that was acknowledged is in the most complete log.
    2. Without, a checkpoint proves what was committed, and nobody knows what came after the end.
    3. What the others have alone is dropped when they follow.
    4. A torn end is cut off.
    """
    if plan.is_done:
        return  # the voters in force are those that it made, and tell nothing of the ones before
    chosen, in_force = plan.chosen, plan.chosen.voter_ids
    number = len(plan.intact_ids)
    here = f"{number} of {count(len(in_force), 'voter')} {'is' if number == 1 else 'are'} here"
    # 1.
    if plan.has_majority:
        yield f"nothing that was acknowledged: {here}"
    # 2.
    else:
        yield (
            f"acknowledged changes may be missing: {here}, and the others may have acknowledged"
            f" more after offset {chosen.end.offset - 1}"
        )
        proved = min(chosen.committed.offset, chosen.end.offset)
        if proved < chosen.end.offset:
            yield (
                f"offsets {proved} to {chosen.end.offset - 1} may never have been acknowledged, and"
                " count from now on"
            )
    # 3.
    for comparison in plan.comparisons:
        if comparison.own:
            one = comparison.survivor
            yield (
                f"controller {one.node_id} alone has offsets {comparison.common} to"
                f" {one.end.offset - 1} of epoch {one.end.epoch}: it drops them when it follows"
            )
        # 4.
        if torn := comparison.survivor.torn:
            yield (
                f"controller {comparison.survivor.node_id}: {torn.file.name} ends with"
                f" {count(torn.size, 'byte')} half written ({torn.reason}), which are cut off"
            )


def brokers_ahead(plan: RecoveryPlan, brokers: Sequence[Survivor]) -> Iterator[str]:
    """Yield the brokers that have records which the log that is left has not.

    A replica that has published what its leader lacks ends (KafkaRaftClient.handleFetchResponse);
    after a restart it can drop all but what a checkpoint of its own contains.
    """
    for broker in brokers:
        comparison = compare(broker, plan.chosen)
        name = f"broker {broker.node_id}"
        if broker.committed > plan.chosen.end:
            yield (
                f"{name} has a checkpoint at {broker.committed}: what was acknowledged from offset"
                f" {plan.chosen.end.offset} on is lost; stop the broker and remove its"
                f" {METADATA_FOLDER} before the controllers start, and it fetches what is left"
            )
        elif comparison.own:
            yield (
                f"{name} has {count(comparison.own, 'record')} from offset {comparison.common} on"
                " that are not left: it stops with an error when it meets the new leader; restart"
                " it after the controllers, and it drops them"
            )


def clocks(plan: RecoveryPlan, now: datetime) -> Iterator[str]:
    """Yield clocks that were wrong by an hour or more. Nothing is decided by times.

    now: with a time zone.
    """
    for survivor in plan.survivors:
        ahead = survivor.latest_time - int(now.timestamp() * 1000)
        if ahead >= HOUR_MS and (latest := moment(survivor.latest_time / 1000)):
            yield (
                f"controller {survivor.node_id}: its last record is of {latest:%Y-%m-%d %H:%M:%SZ},"
                f" {count(ahead // HOUR_MS, 'hour')} after this machine's clock: set the clocks"
                " before the controllers start"
            )
        if survivor.clock_step >= HOUR_MS:
            yield (
                f"controller {survivor.node_id}: times in its log go back by"
                f" {count(survivor.clock_step // HOUR_MS, 'hour')}: clocks of its leaders disagreed"
            )


def reason(plan: RecoveryPlan) -> str:
    """Return why the chosen survivor is the most complete."""
    chosen, others = plan.chosen, plan.survivors[1:]
    ends = f"its log ends at offset {chosen.end.offset} of epoch {chosen.end.epoch}"
    if not others:
        return f"controller {chosen.node_id} is the only one that is left: {ends}"
    behind = joined(
        f"that of controller {one.node_id} at {one.end.offset} of epoch {one.end.epoch}"
        for one in others
    )
    return (
        f"controller {chosen.node_id} is chosen as an election would, by the last epoch, then by"
        f" the offset: {ends}, {behind}"
    )


def actions(plan: RecoveryPlan) -> Iterator[str]:
    """Yield what carrying it out does."""
    for survivor in plan.survivors:
        yield f"copy {survivor.folder} beside itself, and read the copy"
    yield change(plan)


def change(plan: RecoveryPlan) -> str:
    """Return the change of the directories."""
    survivors = [one.node_id for one in plan.survivors]
    if plan.static:
        return (
            f"quorum-state: epoch {plan.epoch}, voters {listed(survivors)}; the configuration of"
            " every node names the voters, and no record can change them"
        )
    voters = ", ".join(map(voter_text, plan.voters))
    return f"offset {plan.chosen.end.offset}, epoch {plan.epoch}: voters are {voters}"


def steps(plan: RecoveryPlan) -> Iterator[str]:
    """Yield what to do after the recovery."""
    survivors = [one.node_id for one in plan.survivors]
    if plan.static:
        yield (
            "set controller.quorum.voters to these voters on every controller and broker:"
            f" {', '.join(f'{node_id}@HOST:PORT' for node_id in sorted(survivors))}"
        )
    addresses = ",".join(map(str, new_addresses(plan)))
    where = f"--bootstrap-controller {addresses or 'HOST:PORT'}"
    if addresses:
        yield f"let controller.quorum.bootstrap.servers of every node name {addresses}"
    for survivor in plan.survivors:
        if survivor.is_copy:
            yield (
                f"move {survivor.folder} to the machine of controller {survivor.node_id}, in place"
                " of its metadata directory"
            )
    yield f"start {ids_text('controller', survivors)}"
    yield f"kwire quorum check {where}"
    if plan.lost_ids:
        yield (
            f"never start {ids_text('controller', plan.lost_ids)} with the disks that they had;"
            " format new ones with kwire storage format --no-initial-controllers and start them"
        )
        yield from (
            f"kwire quorum add-controller {node_id} {where}" for node_id in sorted(plan.lost_ids)
        )


def new_addresses(plan: RecoveryPlan) -> list[Address]:
    """Return the first address of each new voter."""
    return [
        Address(host=voter.endpoints[0].host, port=voter.endpoints[0].port) for voter in plan.voters
    ]


def voters_line(plan: RecoveryPlan) -> str:
    """Return who votes now, and since when."""
    chosen = plan.chosen
    here = sorted(plan.intact_ids)
    copies = sorted(chosen.voter_ids - plan.lost_ids - plan.intact_ids)
    since = f" since {chosen.voter_sets[-1].position}" if chosen.voter_sets else ""
    found = f"{listed(here)} {'is' if len(here) == 1 else 'are'} here" if here else "none is here"
    found += f", a copy of {listed(copies)}" if copies else ""
    return f"{ids_text('voter', chosen.voter_ids)}{since}; {found}"
