"""Labels that fit and differ, gaps whose names do not touch, axes of shares up to 100 %."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from kwire.pipeline.report.gaps import PIXELS, NameStrip, draw_unrecorded
from kwire.pipeline.report.heat_maps import colours
from kwire.pipeline.report.span import Gap, ReportSpan
from kwire.pipeline.report.style import (
    cut,
    figure,
    full,
    label,
    labels,
    names,
    settle,
    shares_axis,
    size,
)

BEGIN = datetime(2026, 11, 21, 3)


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def test_long_names_are_cut_in_the_middle_and_stay_different() -> None:
    long = [f"consumer-{number}-of-{'x' * 40}-the-end" for number in ("1a", "1b")]
    assert label("short") == "short"
    assert label(long[0], 20) == "consumer-…x-the-end"
    assert labels(long, 12) == ["consu…e-end", "consu…e-end (2)"]
    assert len(cut("W" * 60, 30)) < len(cut("i" * 60, 30)) <= 30
    assert labels([None, "", "a\nb", "<b>"]) == ["(none)", "(empty)", "a\\nb", "&lt;b&gt;"]


def test_the_text_at_the_mouse_is_whole() -> None:
    assert full("<i>" + "x" * 157) == f"&lt;i&gt;{'x' * 77}<br>{'x' * 80}"
    assert len(full("y" * 100_000)) < 450


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (999_600, "1 MB"), (2e13, "20 TB")],
)
def test_bytes_have_a_unit(count: float, text: str) -> None:
    assert size(count) == text


def test_names_of_gaps_never_touch() -> None:
    strip = NameStrip(at(0), at(1000))
    gaps = [Gap(at(start), at(start + 5 + start / 100)) for start in range(0, 1000, 25)]
    for gap in gaps:
        strip.name(gap, "nothing recorded", "#000000")
    taken = sorted(strip.taken)
    assert len(taken) > 3
    assert all(left[1] <= right[0] for left, right in pairwise(taken))
    assert taken[0][0] >= 0
    assert taken[-1][1] <= PIXELS


def test_a_gap_is_named_with_its_length_above_the_lanes() -> None:
    made = figure([], height=100, yaxis=names(["a", "b"]))
    draw_unrecorded(made, [Gap(at(100), at(700))], at(0), at(1000))
    assert [one.text for one in made.layout.annotations] == ["<b>nothing recorded</b> 10 min 0 s"]
    assert [trace.name for trace in made.data] == ["nothing recorded: 10 min 0 s"]
    assert made.layout.yaxis.range == (-0.6, pytest.approx(2.45))
    span = ReportSpan(at(0), at(1000), 60, (Gap(at(100), at(700)),))
    assert span.recorded == 400
    assert span.silence == " Grey: nothing was recorded, for 10 min 0 s in 1 gap."


def test_no_axis_of_shares_goes_past_100_percent() -> None:
    assert shares_axis("x")["range"] == [0, 1]


def test_marks_of_a_colour_scale_stay_apart() -> None:
    units = {10.0**power: f"{power}" for power in range(12)}
    scale = colours({("a", 0): (1.0, ""), ("b", 0): (1e11, "")}, "bytes", units)
    assert scale["colorbar"]["ticktext"] == ["0", "3", "6", "9"]
    assert colours({}, "bytes", units)["cmin"] == 0


def test_a_legend_of_many_names_gets_more_room() -> None:
    traces = [{"type": "scatter", "name": f"{number} {'x' * 20}"} for number in range(9)]
    short, long = (
        settle(figure(traces[:count], height=100, legend=True)).layout for count in (1, 9)
    )
    assert long.height - short.height == long.margin.t - short.margin.t == 40
