"""The report: one HTML page with figures from the tables, and the code that draws them."""

from kwire.pipeline.report.page import render, sections

__all__ = ["render", "sections"]
