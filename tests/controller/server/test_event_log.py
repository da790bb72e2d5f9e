"""The log of a controller's events: a line with fields, and the same fields at the LogRecord."""

import logging
from typing import Any

import pytest

from kwire.controller.raft.quorum_events import FetchOffsetFell, LeaderResigned, VoteRejected
from kwire.controller.server.event_log import log_event
from kwire.testing.quorum import Quorum
from tests.support.controller.operator_events import EVERY_KIND
from tests.support.controller.raft.virtual_network import key
from tests.support.virtual_time import in_virtual_time

LOGGER = "kwire.controller.server.event_log"


def logged(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [record for record in caplog.records if record.name == LOGGER]


def test_a_line_ends_with_the_fields_of_its_event(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    event = LeaderResigned(epoch=7, reason='no "majority"', voters=(3000, 3001), fetched_voters=())
    log_event(3000, event)
    (record,) = logged(caplog)
    assert record.levelname == "INFO"
    assert record.getMessage() == (
        'controller 3000: leader resigned: epoch=7 reason="no \\"majority\\"" voters=3000,3001'
        ' fetched_voters=""'
    )


def test_a_handler_finds_the_fields_at_the_record(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    log_event(3000, VoteRejected(candidate=key(2), epoch=7, pre_vote=True, reason="a\nb"))
    (record,) = logged(caplog)
    assert (record.event, record.node_id) == ("VoteRejected", 3000)
    assert (record.candidate, record.epoch, record.pre_vote) == (str(key(2)), 7, True)
    assert record.getMessage().endswith(r'epoch=7 pre_vote=true reason="a\nb"')


def test_a_loss_of_records_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, LOGGER)
    log_event(3000, FetchOffsetFell(replica=key(2), before=5, offset=1))
    log_event(3000, VoteRejected(candidate=key(2), epoch=7, pre_vote=True, reason="no"))
    assert [record.levelname for record in logged(caplog)] == ["WARNING"]


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_no_field_hides_what_a_record_or_a_json_line_has(kind: type) -> None:
    record = logging.makeLogRecord({})
    taken = {*vars(record), "message", "asctime", "event", "node_id", "level", "time", "timestamp"}
    assert not taken & set(kind.__slots__)  # type: ignore[attr-defined]


@in_virtual_time
async def test_a_quorum_logs_who_was_elected_and_who_resigned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    async with Quorum(3) as quorum:
        old = await quorum.active_controller()
        await old.stop()
        new = await quorum.active_controller()
        won = [record.node_id for record in logged(caplog) if record.event == "ElectionWon"]
        assert won == [old.node_id, new.node_id]
        (resigned,) = (record for record in logged(caplog) if record.event == "LeaderResigned")
        assert (resigned.node_id, resigned.reason) == (old.node_id, "it shuts down")
        active = [
            record.node_id for record in logged(caplog) if record.event == "ControllerActivated"
        ]
        assert active == won
