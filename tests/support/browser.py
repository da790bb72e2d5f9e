"""Headless Chromium for the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import pytest

from real_kafka.choice import required

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-first-run",
)
"""It asks nobody but this machine: where there is no network it would wait half a minute."""


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[Chrome]:
    """A window of it. CI installs one; elsewhere a test without it is skipped."""
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    browser, driver = which("chromium"), which("chromedriver")
    if browser is None or driver is None:
        reason = "there is no chromium with a chromedriver: apt-get install chromium-driver"
        (pytest.fail if required() else pytest.skip)(reason)
    options = ChromeOptions()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    options.add_argument("--disable-dev-shm-usage")  # containers have little of it
    for argument in (*QUIET, "--headless=new", "--no-sandbox", "--window-size=1500,900", profile):
        options.add_argument(argument)
    chrome = Chrome(options, ChromeService(driver))
    yield chrome
    chrome.quit()
