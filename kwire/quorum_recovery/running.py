"""Asks which controllers of a quorum run: nothing is recovered beside a quorum that can be had."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from kwire.doctor.ask_node import ask_node
from kwire.doctor.evidence import NodeEvidence
from kwire.net.address import Address
from kwire.net.secure_connect import SecureConnect
from kwire.quorum_recovery.errors import RecoveryRefused
from kwire.quorum_recovery.plan import RecoveryPlan
from kwire.quorum_recovery.survivor import Survivor
from kwire.text.phrases import ids_text, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedController:
    """A controller of the former quorum, and what came from one of its addresses."""

    node_id: int
    answer: NodeEvidence

    @property
    def runs(self) -> bool:
        """True if a controller answers that is this one, or that does not say which it is."""
        if not self.answer.is_controller:
            return False
        return self.answer.node_id in (self.node_id, None)

    @property
    def sentence(self) -> str:
        """Tell what is known of it. Silence is not said to be its end."""
        address = self.answer.address
        if self.runs:
            return f"controller {self.node_id} answers at {address}"
        if self.answer.answers:
            return f"{address}, of controller {self.node_id}, is answered by {self.answer.name}"
        # Without the advice for those who want the node to run.
        failure = str(self.answer.failure).partition(";")[0]
        return f"controller {self.node_id}: {failure}"


async def ask_controllers(plan: RecoveryPlan, connect: SecureConnect) -> list[AskedController]:
    """Ask at the addresses of all voters in force, survivors too: a directory may be a copy.

    Never raises for what they do.
    """
    addresses = [
        (node_id, address)
        for node_id in sorted(plan.chosen.voter_ids)
        for address in known_addresses(plan.chosen, node_id)
    ]
    answers = await asyncio.gather(
        *(ask_node(connect, address, node_id) for node_id, address in addresses)
    )
    return [
        AskedController(node_id=node_id, answer=answer)
        for (node_id, _), answer in zip(addresses, answers, strict=True)
    ]


def known_addresses(survivor: Survivor, node_id: int) -> list[Address]:
    """Return the addresses of a controller: of the voter set, else those that it registered."""
    endpoints = [
        Address(host=endpoint.host, port=endpoint.port)
        for voter in survivor.voters
        if voter.voter_id == node_id
        for endpoint in voter.endpoints
    ]
    registered = survivor.image.cluster.controllers.get(node_id)
    if not endpoints and registered is not None:
        endpoints = [Address(host=item.host, port=item.port) for item in registered.endpoints]
    return list(dict.fromkeys(endpoints))


def check_none_runs(plan: RecoveryPlan, asked: Iterable[AskedController]) -> None:
    """Raise RecoveryRefused if a controller of the former quorum runs.

    1. A survivor that runs writes to its log.
    2. Those that run may be a majority together with the survivors: it loses nothing.
    3. Any other is a survivor as well.
    """
    running = {controller.node_id for controller in asked if controller.runs}
    survivors = {survivor.node_id for survivor in plan.survivors}
    # 1.
    if started := running & survivors:
        name = ids_text("controller", started)
        raise RecoveryRefused(f"{name} still run{'s' * (len(started) == 1)}: stop first what runs")
    if not running:
        return
    # 2.
    voters = plan.chosen.voter_ids
    together = (voters & running) | plan.intact_ids
    if len(together) * 2 > len(voters):
        raise RecoveryRefused(
            f"{ids_text('controller', running)} answer{'s' * (len(running) == 1)}; with"
            f" {listed(survivors)} that is a majority of the voters {listed(voters)}: start"
            f" {ids_text('controller', survivors)}, and a leader is elected; nothing is lost"
        )
    # 3.
    raise RecoveryRefused(
        f"{ids_text('controller', running)} answer{'s' * (len(running) == 1)}: stop what runs, and"
        " give its directory as well"
    )
