"""Figures of awkward tables in a browser: long names, many of everything, one row, only nulls."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import WebDriverWait

from kwire.pipeline.report import render
from kwire.pipeline.report.client_to_node import client_to_node_section
from kwire.pipeline.report.errors import errors_section
from kwire.pipeline.report.latencies import latencies_section
from kwire.pipeline.report.rebalances import rebalances_section
from kwire.pipeline.report.section import Section
from kwire.pipeline.report.span import Gap, ReportSpan
from kwire.pipeline.report.style import utc
from kwire.pipeline.report.throughput import throughput_section
from kwire.pipeline.report.topic_bytes import topic_bytes_section
from kwire.pipeline.report.transactions import transactions_section
from kwire.pipeline.report.versions import versions_section
from kwire.pipeline.schemas import TABLES
from tests.support.browser import chromium
from tests.support.pipeline.analyses.table_rows import rows, second

__all__ = ["chromium"]

ALL = {name: " ".join(schema.names) for name, schema in TABLES.items()}
SPAN = ReportSpan(
    *(utc(second(0)), utc(second(3600)), 60),
    (Gap(utc(second(1000)), utc(second(1900))), Gap(utc(second(2000)), utc(second(2005)))),
)
OVERPRINTED = (Path(__file__).parents[2] / "support/pipeline/overprinted.js").read_text()
LOOKS = (
    "document.querySelectorAll('figure').length > 0 &&"
    " document.querySelectorAll('figure .infolayer').length >="
    " document.querySelectorAll('figure').length"
)


def awkward_calls(spark: SparkSession) -> DataFrame:
    """Forty clients with names of 60 letters, thirty nodes, thirty topics."""
    clients = [f"service-{'of-a-long-name-' * 4}{number:02}"[-60:] for number in range(38)]
    clients += ["W" * 60, "<b>=cmd|'x'</b>"]
    apis = [("Produce", 0), ("Fetch", 1), ("DescribeTransactionalIds", 65), ("Metadata", 3)]
    found = []
    for number in range(1200):
        api, key = apis[number % 4]
        topic = f"{'W' if number % 3 else 'team-'}{'x' * 50}-{number % 30}"
        at = number * 3 if number < 330 else 1950 + number
        call = {"api": api, "api_key": key, "client_id": clients[number % 40], "at": second(at)}
        call |= {"node_id": number % 30, "api_version": number % 13, "outcome": "ANSWERED"}
        call |= {"latency_ms": 1.5 ** (number % 20), "request_size": 100, "capture": "a"}
        call |= {"response_size": 10 ** (number % 7), "connection": number % 50}
        call |= {"error": "COORDINATOR_LOAD_IN_PROGRESS" if number % 5 == 0 else None}
        call |= {"topics": [{"topic": topic, "records_bytes": number}] if key < 2 else None}
        found.append(call)
    return rows(spark, "calls", *found, columns=ALL["calls"])


def awkward_messages(spark: SparkSession) -> DataFrame:
    found: list[dict[str, Any]] = []
    for number in range(120):
        group = f"group-{'of-a-long-name-' * 4}{number % 30:02}"[-60:]
        asked = {"group_id": group, "transactional_id": group, "committed": number % 7 > 0}
        answer = {"error_code": 25 * (number % 11 == 0), "generation_id": number, "member_id": "m"}
        for api in ("JoinGroup", "Produce", "EndTxn"):
            key = {"capture": "a", "connection": 1, "event": len(found), "api": api}
            at = 7 * number + 2 * (api == "EndTxn")
            for kind, body, after in (("REQUEST", asked, 0), ("RESPONSE", answer, 2)):
                told = {"kind": kind, "at": second(at + after), "body": json.dumps(body)}
                found.append(key | told)
    return rows(spark, "messages", *found, columns="client_id")


def made(spark: SparkSession, calls: DataFrame, messages: DataFrame) -> list[Section]:
    partitions = rows(spark, "partitions", columns="topic topic_id")
    records = rows(spark, "records", columns=ALL["records"])
    return [
        throughput_section(calls, SPAN),
        topic_bytes_section(calls, messages, partitions),
        client_to_node_section(calls),
        latencies_section(calls, SPAN),
        errors_section(calls, SPAN),
        versions_section(calls, records),
        rebalances_section(messages, SPAN),
        transactions_section(messages, SPAN),
    ]


def look(chromium: Chrome, page: Path, sections: list[Section]) -> None:
    """Open the page; no text of a figure may be upon another or outside."""
    page.write_text(render(sections, "Awkward"))
    chromium.get(page.as_uri())
    WebDriverWait(chromium, 90).until(lambda _: chromium.execute_script(f"return {LOOKS}"))
    assert chromium.get_log("browser") == []  # type: ignore[no-untyped-call]
    assert chromium.execute_script(OVERPRINTED) == []


def test_labels_never_overprint(spark: SparkSession, chromium: Chrome, tmp_path: Path) -> None:
    sections = made(spark, awkward_calls(spark), awkward_messages(spark))
    assert [len(one.figures) for one in sections] == [len(one.tables) for one in sections]
    assert all(one.figures for one in sections)
    look(chromium, tmp_path / "report.html", sections)
    text = chromium.find_element("tag name", "body").text
    assert text.count("nothing recorded: 15 min 5 s in 2 gaps") >= 5
    for axis in axes(sections):
        if axis.tickformat == ".0%":
            assert tuple(axis.range) == (0, 1)
    dark(chromium)
    printed(chromium, sections)
    downloaded(chromium, tmp_path / "files")


def axes(sections: list[Section]) -> list[Any]:
    figures = [figure for section in sections for figure in section.figures]
    return [
        figure.layout[name] for figure in figures for name in figure.layout if "axis" in name[1:5]
    ]


def dark(chromium: Chrome) -> None:
    """In the dark, names are light, and the page is dark."""
    style = (
        "const of = e => getComputedStyle(document.querySelector(e));"
        "return [of('.ytick text').fill, of('section').backgroundColor, of('.heatmaplayer').filter]"
    )
    light = chromium.execute_script(style)
    assert light == ["rgb(34, 34, 34)", "rgb(255, 255, 255)", "none"]
    feature = {"name": "prefers-color-scheme", "value": "dark"}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    ink, card, heat = chromium.execute_script(style)
    assert (ink, card) == ("rgb(230, 233, 238)", "rgb(28, 32, 38)")
    assert "invert" in heat


def printed(chromium: Chrome, sections: list[Section]) -> None:
    """On paper the page is light though the screen is dark, and no figure needs two pages."""
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = chromium.execute_script(
        "return [getComputedStyle(document.querySelector('.download')).display,"
        " getComputedStyle(document.querySelector('section')).backgroundColor]"
    )
    assert shown == ["none", "rgb(255, 255, 255)"]
    for figure in (figure for section in sections for figure in section.figures):
        assert figure.layout.height <= 1400  # 1032 pixels of a page, at the size of its print
    answer = chromium.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    pages = re.findall(rb"/Type\s*/Page\b", base64.b64decode(answer["data"]))
    assert 8 <= len(pages) <= 20
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def downloaded(chromium: Chrome, folder: Path) -> None:
    """A figure's table is saved under its name, from a page that was opened as a file."""
    folder.mkdir()
    behaviour = {"behavior": "allow", "downloadPath": str(folder)}
    chromium.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    link = chromium.find_element("css selector", "#clients-and-nodes .download a")
    chromium.execute_script("arguments[0].click()", link)
    file = folder / "calls-by-client-and-node.csv"
    WebDriverWait(chromium, 30).until(lambda _: file.exists() and file.stat().st_size)
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "client_id,node_id,calls,connections,request_bytes,response_bytes"


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["none", "one", "nulls"])
def test_few_rows_are_drawn_or_said_to_be_missing(
    spark: SparkSession, chromium: Chrome, tmp_path: Path, kind: str
) -> None:
    calls, messages = awkward_calls(spark), awkward_messages(spark)
    if kind == "none":
        calls, messages = calls.limit(0), messages.limit(0)
    elif kind == "one":
        calls, messages = calls.where("request_size = 100").limit(1), messages.limit(2)
    else:
        null = {"at": second(5), "outcome": "ANSWERED"}
        calls = rows(spark, "calls", null, null, columns=ALL["calls"])
        messages = rows(spark, "messages", {"at": second(5)}, columns=ALL["messages"])
    sections = made(spark, calls, messages)
    if kind == "none":
        assert not any(one.figures or one.grids for one in sections)
    else:
        look(chromium, tmp_path / "report.html", sections)
