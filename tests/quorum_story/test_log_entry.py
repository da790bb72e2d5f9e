"""Entries of log files: layouts of Kafka's files and images, what tools put before them, traces."""

from __future__ import annotations

import pytest

from kwire.quorum_story.log_entry import LONGEST, LogEntry, LogReader

RAFT = "org.apache.kafka.raft.KafkaRaftClient"
MESSAGE = "[RaftManager id=3000] Become candidate due to fetch timeout"
TIME = 1_795_827_723_456
"""2026-11-28 01:02:03.456."""


def read(*lines: str) -> list[LogEntry]:
    reader = LogReader("c1.log")
    return [*reader.read(lines), *reader.end()]


@pytest.mark.parametrize(
    "line",
    [
        f"[2026-11-28 01:02:03,456] INFO {MESSAGE} ({RAFT})",
        f"2026-11-28 01:02:03,456 INFO {MESSAGE} ({RAFT}) [kafka-3000-raft-io-thread]",
        f"2026-11-28T01:02:03.456 [kafka-3000-raft-io-thread] INFO {RAFT} - {MESSAGE}",
        f"kafka-0  | [2026-11-28 01:02:03,456] INFO {MESSAGE} ({RAFT})",
        f"[pod/c-0/kafka] [2026-11-28 01:02:03,456] INFO {MESSAGE} ({RAFT})",
        f"2026-11-28T09:00:00.1234567Z [2026-11-28 01:02:03,456] INFO {MESSAGE} ({RAFT})",
        "2026-11-28T09:00:00.123456789+01:00 stdout F"
        f" [2026-11-28 01:02:03,456] INFO {MESSAGE} ({RAFT})",
        '{"log":"[2026-11-28 01:02:03,456] INFO ' + MESSAGE + f" ({RAFT})" + r'\n"}',
    ],
)
def test_a_layout_is_read(line: str) -> None:
    (entry,) = read(f"{line}\n")
    assert (entry.time, entry.dated, entry.level) == (TIME, True, "INFO")
    assert (entry.logger, entry.message, entry.node_id) == (RAFT, MESSAGE, 3000)
    assert entry.place == "c1.log:1"


def test_a_layout_without_dates_counts_days() -> None:
    thread = f"[kafka-7-raft-io-thread] INFO {RAFT} - x"
    entries = read(f"23:59:59.000 {thread}", f"00:00:01.500 {thread}")
    assert [entry.time for entry in entries] == [86_399_000, 86_401_500]
    assert [(entry.dated, entry.node_id) for entry in entries] == [(False, 7), (False, 7)]


def test_pieces_of_a_long_line_are_one_line() -> None:
    line = f"[2026-11-28 01:02:03,456] INFO {MESSAGE} ({RAFT})\n"
    pieces = ["y" * LONGEST, "y" * (LONGEST - len(line)) + line, line]
    (entry,) = read(*pieces)
    assert entry.place == "c1.log:2"


def test_a_stack_trace_belongs_to_its_entry() -> None:
    trace = [f"\tat kafka.Kafka.method{number}(Kafka.scala)" for number in range(100)]
    first, second = read(
        "[2026-11-28 01:02:03,456] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)",
        "java.lang.RuntimeException: a",
        *trace,
        "Caused by: java.io.IOException: No space left on device",
        f"[2026-11-28 01:02:04,000] INFO {MESSAGE} ({RAFT})",
    )
    assert first.text.endswith("Caused by: java.io.IOException: No space left on device")
    assert (first.logger, first.text.count("\n")) == ("kafka.Kafka$", 25)
    assert second.line == 104


def test_the_logger_may_stand_behind_a_message_of_several_lines() -> None:
    (entry,) = read(
        "[2026-11-28 01:02:03,456] INFO KafkaConfig values:", "\tnode.id = 9", "\t (k.K)"
    )
    assert (entry.logger, entry.node_id) == ("k.K", 9)


def test_the_nodes_of_one_pipe_are_told_by_its_prefixes() -> None:
    line = "[2026-11-28 01:02:03,456] WARN"
    entries = read(
        f"[pod/a/kafka] {line} [RaftManager id=1] x ({RAFT})",
        f"[pod/b/kafka] {line} [RaftManager id=2] x ({RAFT})",
        f"[pod/a/kafka] {line} x (kafka.Kafka$)",
        "[pod/a/kafka] java.io.IOException: y",
    )
    assert [entry.node_id for entry in entries] == [1, 2, 1]


def test_a_time_that_journald_puts_before_a_line_names_no_stream() -> None:
    entries = read(
        *(
            f"Nov 28 01:02:0{second} host kafka[812]: [2026-11-28 01:02:0{second},456] {text}"
            for second, text in enumerate((f"INFO {MESSAGE} ({RAFT})", "ERROR x (kafka.Kafka$)"))
        )
    )
    assert [entry.stream for entry in entries] == ["host kafka[812]:"] * 2
    assert [entry.node_id for entry in entries] == [3000, 3000]


@pytest.mark.parametrize("line", ["", "hello", '{"log": 5}', '{"log":', "[2026-13-45 99:00:00]"])
def test_other_lines_are_no_entries(line: str) -> None:
    assert read(line) == []


def test_a_day_that_no_calendar_has_leaves_the_time_unknown() -> None:
    (entry,) = read(f"[2026-02-31 01:02:03,456] INFO {MESSAGE} ({RAFT})")
    assert entry.time is None
