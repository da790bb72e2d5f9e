"""Heat maps have a cell for every step of time, also for those in which nothing was."""

from datetime import datetime, timedelta

from kwire.pipeline.report.heat_maps import colours, over_time
from kwire.pipeline.report.span import ReportSpan

BEGIN = datetime(2026, 11, 21, 3, 0, 0, 500_000)


def test_a_step_without_calls_is_empty_and_as_wide_as_others() -> None:
    span = ReportSpan(BEGIN, BEGIN + timedelta(seconds=6), seconds=2)
    first, *_, last = span.steps
    cells = {("Vote", first): (10.0, "ten"), ("Vote", last): (1000.0, "a thousand")}
    heat = over_time(cells, ["Vote", "Fetch"], span)
    assert list(heat.x) == [datetime(2026, 11, 21, 3, 0, second) for second in (1, 3, 5, 7)]
    assert [list(row) for row in heat.z] == [[1.0, None, None, 3.0], [None] * 4]
    assert list(heat.hovertext[0]) == ["ten", "", "", "a thousand"]


def test_a_scale_is_marked_where_it_is_used() -> None:
    units = {1.0: "1 ms", 100.0: "100 ms", 100_000.0: "100 s"}
    scale = colours({("Vote", 0): (10.0, ""), ("Vote", 1): (1000.0, "")}, "latency", units)
    assert (scale["cmin"], scale["cmax"]) == (1.0, 3.0)
    assert scale["colorbar"]["ticktext"] == ["100 ms"]
