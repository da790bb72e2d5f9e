"""A run as JUnit XML, which every CI server reads: a suite a section, a case a check."""

from __future__ import annotations

from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kwire.conform.report.document import CheckPart, RunDocument
from kwire.conform.report.expected import ANY_VERDICT, Expectations, Judgement
from kwire.conform.report.text import hex_lines
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.text.untrusted import harmless


def to_junit(run: RunDocument, expectations: Expectations | None = None) -> bytes:
    """Return the XML. With expectations, an expected failure is skipped, and one that passes fails.

    What comes from the server or a file is escaped: XML 1.0 has no place for control characters.
    """
    root = Element("testsuites", name=f"kwire conform {run.name}")
    for section, checks in groupby(run, key=lambda check: check.section):
        suite = SubElement(root, "testsuite", name=section)
        for check in checks:
            _add_case(suite, check, (expectations or ANY_VERDICT).judge(check))
        _count(suite)
    _count(root)
    root.set("time", f"{run.seconds:.3f}")  # by the clock: checks run side by side
    _escape(root)
    indent(root)
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_case(suite: Element, check: CheckPart, judgement: Judgement) -> None:
    case = SubElement(
        suite,
        "testcase",
        classname=f"kwire.conform.{check.section.replace('/', '.')}",
        name=f"{check.id} {check.sentence}".rstrip(),
        time=f"{check.seconds:.3f}",
    )
    text = judgement.text
    if judgement.is_unexpected:
        # An error is what kept a test from its end: the server was gone.
        died = check.verdict is ConformanceVerdict.DIED
        end = SubElement(case, "error" if died else "failure", message=text)
        end.set("type", check.verdict.value)
        end.text = f"{text}\n{check.source}\n{check.address}"
    elif check.verdict is ConformanceVerdict.SKIPPED or judgement.is_expected_deviation:
        SubElement(case, "skipped", message=text)
    if check.verdict is ConformanceVerdict.PASS and not judgement.is_unexpected:
        return
    shown = [text, *hex_lines(check)]
    SubElement(case, "system-out").text = "\n".join(shown)


def _escape(root: Element) -> None:
    """Escape control characters and all else that is no text, in one place for all of the tree."""
    for element in root.iter():
        for name, value in element.attrib.items():
            element.set(name, harmless(value))
        if element.text is not None:
            element.text = "\n".join(map(harmless, element.text.split("\n")))


def _count(parent: Element) -> None:
    cases = list(parent.iter("testcase"))
    parent.set("tests", str(len(cases)))
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        parent.set(name, str(sum(case.find(kind) is not None for case in cases)))
    parent.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.3f}")
