"""One HTML page of what the tables tell, with its pictures and the code that draws them in it."""

from kwire.pipeline.report.page import render, sections

__all__ = ["render", "sections"]
