"""Takes docs/images/report.png of `kwire pipeline report`, in Chromium.

    python docs/images/report.py TABLES    # a folder that kwire pipeline ingest wrote

The picture in the documentation shows tests/support/pipeline/recorded_history.py: a leader is
killed, a voter added and removed, a broker restarted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

HERE = Path(__file__).parent
SIZE = (1200, 2260)
"""Pixels: down to the end of the quorum and of the latencies over time."""

DRAWN = "return document.querySelectorAll('figure .main-svg .subplot').length >= 10"


def main() -> None:
    """Make the page, open it, take the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", metavar="TABLES")
    tables = parser.parse_args().tables
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        kwire = Path(sys.executable).with_name("kwire")
        title = ["--title", "A night in the life of a quorum"]
        subprocess.run([kwire, "pipeline", "report", tables, "-o", page, *title], check=True)
        photograph(page, HERE / "report.png")


def photograph(page: Path, picture: Path) -> None:
    """Take a picture of the page's beginning, on a high screen."""
    options = webdriver.ChromeOptions()
    options.binary_location = which("chromium") or ""
    width, height = SIZE
    size = f"--window-size={width},{height}"
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", size):
        options.add_argument(argument)
    driver = webdriver.Chrome(options, webdriver.ChromeService(which("chromedriver")))
    try:
        driver.get(page.as_uri())
        WebDriverWait(driver, 60).until(lambda _: driver.execute_script(DRAWN))
        driver.save_screenshot(str(picture))
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
