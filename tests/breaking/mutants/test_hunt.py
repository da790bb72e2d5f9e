"""Hunts: only a check that met a mutant sees it; one that did not is tried once more."""

import pytest

from breaking.mutants.hunt import Hunt
from breaking.mutants.mutant import Mutant, MutantKind, fields_of
from breaking.mutants.observe import Observation, Unit
from kwire.codec.declaration import Request
from kwire.conform.check import CheckSection, scenario
from kwire.conform.expectation import expect_equal
from kwire.conform.result import skipped
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, guide
from kwire.messages.a16_list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from scripted_node import Script, ScriptedNode
from tests.support.conform.mortal_node import target_of

GROUPS: dict[type[Request], Script] = {
    ListGroupsRequest: lambda frame: ListGroupsResponse(groups=[ListedGroup(group_id="a")])
}


def a_mutant() -> Mutant:
    (field,) = (f for f in fields_of(16, range(4)) if f.path == "groups[].group_id")
    return Mutant(field=field, kind=MutantKind.OTHER, below=None)


@pytest.mark.parametrize(("failures", "seen_by"), [(0, "test/hunt/1"), (1, "test/hunt/1"), (9, "")])
async def test_a_check_that_fails_before_it_met_a_mutant_is_tried_once_more(
    failures: int, seen_by: str
) -> None:
    left = failures

    @scenario("Groups are listed.", guide("a test"))
    async def lists(server: Server) -> None:
        nonlocal left
        if left:
            left -= 1
            raise Deviation("an answer in time", "none")
        answer = await server.ask(ListGroupsRequest())
        expect_equal("groups", [group.group_id for group in answer.groups], ["a"])

    section = CheckSection("test/hunt", "Of a test")
    section[1] = lists
    mutant = a_mutant()
    unit = Unit(check=next(iter(section)))
    seen = {mutant: [Observation(unit=unit, result=skipped(unit.id, "not run"), met={mutant})]}
    async with ScriptedNode(GROUPS) as node:
        target = await target_of(node)
        hunt = Hunt(target=target, observations=seen, on_verdict=lambda verdict: None)
        (verdict,) = await hunt.run([mutant])
    assert verdict.seen_by == seen_by
