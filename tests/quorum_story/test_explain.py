"""The story: who led, why it ended, clocks that differ, what is not known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kwire.quorum_story.explain import explain
from kwire.quorum_story.log_source import log_file
from kwire.quorum_story.story import Story, StoryAnswer, StorySource

START = datetime(2026, 11, 28, 1, 0, 0, tzinfo=UTC)

LOST = "Did not receive fetch request from the majority of the voters within 3000ms. Current"
REFUSED = (
    "Connection to node 2 (/10.0.0.2:9093) could not be established. Node may not be available."
)


class Log:
    """A log in Kafka's layout, written second by second."""

    def __init__(self, node: int, *, ahead: timedelta = timedelta()) -> None:
        self.node = node
        self.lines: list[str] = []
        self._ahead = ahead

    def at(self, second: float, text: str, level: str = "INFO", logger: str = "raft.Raft") -> Log:
        time = START + self._ahead + timedelta(seconds=second)
        stamp = f"{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03}"
        self.lines.append(
            f"[{stamp}] {level} [RaftManager id={self.node}] {text} (org.apache.kafka.{logger})"
        )
        return self

    def leads(self, second: float, epoch: int) -> Log:
        return self.at(
            second,
            f"Completed transition to Leader(localVoterNode=x, epoch={epoch}, epochStartOffset=9)"
            f" from CandidateState(localId={self.node}, epoch={epoch})",
        )

    def follows(self, second: float, epoch: int, leader: int) -> Log:
        return self.at(
            second,
            f"Completed transition to FollowerState(fetchTimeoutMs=2000, epoch={epoch},"
            f" leader={leader}, leaderEndpoints=x) from UnattachedState(epoch={epoch})",
        )

    @property
    def source(self) -> StorySource:
        return log_file(f"c{self.node}.log", self.lines)


def told(*logs: Log) -> Story:
    return explain([log.source for log in logs])


def answer_of(story: Story, question: str, node: int | None = None) -> StoryAnswer | None:
    for answer in story.answers:
        if answer.question == question and node in (None, answer.node_id):
            return answer
    return None


def sentence(story: Story, question: str = "elections", node: int | None = None) -> str:
    answer = answer_of(story, question, node)
    assert answer is not None
    return answer.sentence


def test_elections_are_counted_by_cause_with_intervals() -> None:
    first, second = Log(1), Log(2)
    for number in range(3):
        begin = number * 100
        first.leads(begin, 1 + 2 * number).at(begin + 50, LOST)
        second.follows(begin + 0.1, 1 + 2 * number, 1).leads(begin + 60, 2 + 2 * number)
        first.follows(begin + 60.1, 2 + 2 * number, 2)
        second.at(begin + 90, "Received user request to resign from the current epoch 2")
    story = told(first, second)
    assert sentence(story).startswith(
        "The active controller changed 5 times in 4 min 20 s (epochs 1 to 6, 40.0 s to 1 min"
        " between changes): 3× leader.lost-majority, 2× leader.asked-to-resign. Leader 1 gave up:"
        " no majority of the voters fetched from it within 3000 ms."
    )
    assert [reign.leader_id for reign in story.reigns] == [1, 2, 1, 2, 1, 2]
    assert story.reigns[0].ended_by[0].place == "c1.log:2"


def test_a_leader_whose_log_is_missing_is_asked_for() -> None:
    follower = Log(2).follows(0, 4, 1).follows(30, 5, 3)
    assert sentence(told(follower)) == (
        "The active controller changed once in 30.0 s (epochs 4 to 5): 1× not known why."
        " Give the log of 1, which led, by --log."
    )


def test_a_name_that_does_not_resolve_is_told_without_its_colon() -> None:
    log = Log(1).at(0, "java.net.UnknownHostException: c-1.invalid: Name or service not known")
    log.at(1, "Couldn't resolve server c-2.invalid:9093 from bootstrap.servers", "WARN")
    hosts = [event.details["host"] for event in told(log).events]
    assert hosts == ["c-1.invalid", "c-2.invalid:9093"]


def test_clocks_that_differ_by_hours_are_told_by_epochs() -> None:
    leader, follower = Log(1), Log(2, ahead=timedelta(hours=5))
    for epoch in (3, 4, 5):
        leader.leads(epoch * 60, epoch)
        follower.follows(epoch * 60 + 0.2, epoch, 1)
    follower.at(300, "Become candidate due to fetch timeout")
    story = told(leader, follower)
    assert story.notes == (
        "The clock of c2.log is 5 h ahead of the others, or its time zone is another (by epoch"
        " 4, 5): its times are shown by theirs.",
    )
    assert [event.node_id for event in story.events] == [1, 2, 1, 2, 1, 2, 2][-len(story.events) :]


def test_a_node_that_starts_late_has_no_other_clock() -> None:
    leader = Log(1).leads(0, 3).at(7200, "still here")
    late = Log(2).at(3600, "Starting controller").follows(3601, 3, 1).at(7200, "x")
    assert told(leader, late).notes == ()


def test_a_process_that_broke_off_was_killed() -> None:
    log = Log(1).at(0, "Registered signal handlers for TERM, INT, HUP")
    for second in range(10):
        log.at(1 + second, "working")
    log.at(100, "Registered signal handlers for TERM, INT, HUP").follows(101, 2, 3)
    story = told(log)
    (cause,) = story.causes
    assert (cause.cause.id, cause.first.place) == ("stop.unclean", "c1.log:11")
    assert (
        sentence(story, "ready")
        == "Controller 1 follows 3 in epoch 2 since 2026-11-28 01:01:41.000."
    )


def test_a_process_that_was_stopped_was_not_killed() -> None:
    log = Log(1).at(0, "Registered signal handlers for TERM, INT, HUP")
    for second in range(10):
        log.at(1 + second, "working")
    log.at(20, "Terminating process due to signal SIGTERM")
    log.at(100, "Registered signal handlers for TERM, INT, HUP")
    assert [summary.cause.id for summary in told(log).causes] == ["stop.signal"]


def test_a_node_that_finds_no_leader_is_not_ready() -> None:
    log = Log(1).at(0, "Starting controller")
    log.at(1, "Completed transition to UnattachedState(epoch=3, leaderId=x) from null")
    log.at(9, REFUSED, "WARN", "clients.NetworkClient")
    answer = answer_of(told(log), "ready", 1)
    assert answer is not None
    assert answer.sentence == (
        "Controller 1 is not ready: since 2026-11-28 01:00:01.000 it knows no leader in epoch 3:"
        " Controller 1 cannot connect to 10.0.0.2:9093: nobody listens there."
    )
    assert (answer.good, answer.causes) == (False, ("network.refused",))


def test_a_follower_whose_fetches_time_out_is_not_ready() -> None:
    log = Log(1)
    for number in range(4):
        log.follows(number * 4, 1, 2).at(number * 4 + 2, "Become candidate due to fetch timeout")
    answer = answer_of(told(log), "ready", 1)
    assert answer is not None
    assert answer.good is False
    assert "in name, and gets no answer" in answer.sentence


def test_a_follower_is_ready_though_another_follower_is_silent() -> None:
    log = Log(1).follows(0, 1, 2)
    log.at(9, "Disconnecting from node 3 due to request timeout.", logger="clients.NetworkClient")
    answer = answer_of(told(log), "ready", 1)
    assert answer is not None
    assert answer.good is True
    log.at(10, "Disconnecting from node 2 due to request timeout.", logger="clients.NetworkClient")
    answer = answer_of(told(log), "ready", 1)
    assert answer is not None
    assert answer.good is False


def test_a_silent_log_is_not_said_to_be_well() -> None:
    story = told(Log(1).leads(0, 1).at(3600, "x"), Log(2).follows(0.1, 1, 1))
    answer = answer_of(story, "ready", 2)
    assert answer is not None
    assert answer.good is None
    assert answer.sentence.endswith(
        "Its log ends at 2026-11-28 01:00:00.100, 1 h before that of others."
    )


def test_epochs_that_a_log_misses_are_said() -> None:
    whole = Log(1).leads(0, 1).leads(100, 2).leads(200, 3).at(900, "x")
    with_gap = Log(2).follows(0.1, 1, 1).follows(200.1, 3, 1).at(900, "x")
    assert told(whole, with_gap).notes == (
        "c2.log has nothing of epoch 2, which began from 2026-11-28 01:01:40.000 on: the node was"
        " cut off or did not run, or lines are missing.",
    )


def test_logs_of_two_clusters_are_told_apart() -> None:
    (note,) = told(Log(1).leads(0, 5), Log(7).leads(1, 5)).notes
    assert note.startswith("Epoch 5 has the leaders 1 and 7: an epoch has one")


def test_what_is_not_understood_is_shown_as_it_is_and_counted() -> None:
    log = Log(1)
    for second in range(3):
        log.at(second, f"A replica frobnicated {second} times \x1b[2J", "ERROR")
    log.at(9, "nothing", "ERROR", "coordinator.group.Group")
    (event,) = told(log).not_understood
    assert (event.times, event.place) == (3, "c1.log:1")
    assert event.text.endswith("A replica frobnicated 0 times \x1b[2J")


def test_a_file_of_something_else_is_one_sentence() -> None:
    source = log_file("photo.png", ["\x89PNG\n"] * 20_000)
    assert source.problem.startswith("photo.png is no log of Kafka in a layout that is known")
    assert explain([source]).answers[0].good is None


def test_a_clock_that_jumps_back_is_said() -> None:
    story = told(Log(1).leads(3600, 2).at(0, "x"))
    (cause,) = story.causes
    assert cause.meaning == "The clock of controller 1 jumped back by 3600 s."


def test_no_source_at_all_tells_nothing() -> None:
    assert sentence(explain([])) == "No source tells who led."
