"""Gaps of time, drawn across a picture and named."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from kwire.pipeline.report.span import Gap
from kwire.pipeline.report.style import GREY, duration

LETTER = 0.0075
"""Share of a letter in the picture's width: a gap too narrow for its text has it upright."""

NAMED = 30
"""Gaps that have a text at most, the longest."""

UNRECORDED = "#5B6675"
"""The colour of a text on GREY."""


def draw_unrecorded(made: Any, gaps: Sequence[Gap], width: timedelta, **subplot: Any) -> None:
    """Draw the time that was not recorded. width: of the picture. subplot: its row and col."""
    for gap in gaps:
        made.add_vrect(*(gap.begin, gap.end), fillcolor=GREY, opacity=0.25, line_width=0, **subplot)
    name_gaps(made, gaps, "nothing recorded", UNRECORDED, width, top=True)


def name_gaps(
    made: Any, gaps: Sequence[Gap], name: str, colour: str, width: timedelta, *, top: bool
) -> None:
    """Write name and length into the longest gaps, at the top or at the bottom."""
    narrow = width * LETTER * len(name)
    for gap in sorted(gaps, key=lambda gap: -gap.milliseconds)[:NAMED]:
        wide = gap.end - gap.begin > narrow
        spent = duration(gap.milliseconds)
        made.add_annotation(
            x=gap.begin + (gap.end - gap.begin) / 2,
            y=1 if top else 0,
            yref="paper",
            yanchor="top" if top else "bottom",
            text=f"<b>{name}</b><br>{spent}" if wide else f"<b>{name}</b> {spent}",
            textangle=0 if wide else -90,
            showarrow=False,
            font={"color": colour, "size": 12},
        )
