"""Costs of `kwire capture html`: making a page of a recording, and opening it in Chromium.

    python benchmarks/trace_page.py CAPTURES [--runs 5]

CAPTURES: a capture, or a folder of them. The page is opened in headless Chromium that runs already,
and is counted as open when its list and its lanes are drawn. Filters are measured in the page.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from shutil import which
from statistics import median

from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.support.ui import WebDriverWait

FILTERS = ("~api Fetch & ~lat >1ms", "~topic *o*", "error_code!=0")
READY = "return document.documentElement.dataset.ready"
MEASURE = (
    "const begin = performance.now(); setFilter(arguments[0]); return performance.now() - begin"
)


def made(captures: str, page: Path) -> tuple[float, float]:
    """Make a page; return seconds by the clock and of CPU."""
    kwire = Path(sys.executable).with_name("kwire")
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([kwire, "capture", "html", captures, "--out", page], check=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def browser() -> Chrome:
    """Start Chromium without a window."""
    options = ChromeOptions()
    options.binary_location = which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1500,900")
    return Chrome(options, ChromeService(which("chromedriver")))


def opened(chrome: Chrome, page: Path) -> float:
    """Open a page; return the seconds until it is drawn."""
    chrome.get("about:blank")
    began = time.perf_counter()
    chrome.get(page.as_uri())
    WebDriverWait(chrome, 60, poll_frequency=0.02).until(lambda _: chrome.execute_script(READY))
    return time.perf_counter() - began


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captures")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "trace.html")
        clock, cpu = made(options.captures, page)
        sys.stdout.write(
            f"made in {clock:.1f} s, {cpu:.1f} s of CPU: {page.stat().st_size / 1e6:.2f} MB\n"
        )
        chrome = browser()
        try:
            times = [opened(chrome, page) for _ in range(options.runs)]
            sys.stdout.write(
                f"opened in {median(times):.2f} s ({min(times):.2f} to {max(times):.2f})\n"
            )
            for text in FILTERS:
                sys.stdout.write(f"{text}: {chrome.execute_script(MEASURE, text):.0f} ms\n")
        finally:
            chrome.quit()


if __name__ == "__main__":
    main()
