"""Viewers get notices of lasting states however late they come."""

from kwire.proxy import Notice, NoticeKind
from tests.support.eventually import eventually
from tests.support.proxy.dialogue import connection
from tests.support.proxy.feed.voting_traffic import ShownEvents, traffic, viewer

BYPASSED = Notice(
    connection=connection(), at=5.0, kind=NoticeKind.BYPASSED, text="node 2 is elsewhere"
)


async def test_a_viewer_that_comes_late_is_told_who_is_not_behind_the_proxy() -> None:
    late, all_ = ShownEvents(), ShownEvents()
    async with traffic() as run:
        run.feed(BYPASSED)
        await run.vote(20)
        async with (
            viewer(run.feed.address, late, backlog=5),
            viewer(run.feed.address, all_, backlog=100),
        ):
            await eventually(lambda: len(late) == 6 and len(all_) == 23)
    for shown in (late, all_):
        (told,) = [
            event.event for event in shown if isinstance(event.event, Notice) and event.number == 0
        ]
        assert (told.kind, told.text) == (NoticeKind.BYPASSED, BYPASSED.text)
