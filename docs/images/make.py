"""Takes the pictures in docs/images of `kwire watch`, in a terminal and in a browser.

    python docs/images/make.py            # needs Chromium and its driver for the second
    python docs/images/make.py --terminal

What they show is real: a quorum of kwire's own behind its proxy, whose voters are changed, with a
request that is held.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from shutil import which

from textual.pilot import Pilot

from kwire.admin import AdminClient
from kwire.admin.quorum import fetch_quorum
from kwire.admin.voter_change_plan import plan_addition
from kwire.cli.demo.cluster import JOINING, KwireQuorum
from kwire.cli.watch.screen.app import WatchApp
from kwire.cli.watch.screen.details import Details
from kwire.cli.watch.screen.flow_list import FlowList
from kwire.errors import KwireError
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.proxy import DecodedFlow, Filters, Listener, Proxy
from kwire.proxy.feed.commands import Controls
from kwire.proxy.feed.sender import Feed
from kwire.proxy.filters.intercept import Intercept
from kwire.proxy.filters.rule_set import RuleSet

HERE = Path(__file__).parent
SIZE = (168, 46)
"""Columns and lines of the terminal."""

PATIENCE = 60.0


@asynccontextmanager
async def traffic() -> AsyncIterator[tuple[Feed, list[str]]]:
    """A quorum behind a proxy with a feed, and where its controllers are reached."""
    feeds: list[Feed] = []
    stop = Intercept(None, lambda flow: feeds[0].hold(flow))
    filters = Filters([stop])
    cluster = KwireQuorum()
    rules = RuleSet(time.monotonic, lambda seed: Random(seed).random)
    async with Feed(Address("127.0.0.1", 0), controls=Controls(stop, filters, rules)) as feed:
        feeds.append(feed)
        async with Proxy(sinks=[feed], filters=filters) as proxy:
            for node_id, upstream in cluster.controllers.items():
                address = await proxy.listen(Listener(node_id=node_id, upstream=upstream))
                cluster.advertise(node_id, address)
            try:
                await asyncio.to_thread(cluster.start)
                yield feed, [str(address) for address in proxy.addresses.values()]
            finally:
                cluster.close()


async def change_voters(controllers: list[str]) -> None:
    """Add a voter and remove it, and describe the quorum before, between and after."""
    async with AdminClient(bootstrap_controllers=controllers, client_id="kwire-admin") as admin:
        await _ready(admin)
        planned = await plan_addition(admin, admin, JOINING)
        assert planned.directory_id is not None
        await admin.add_raft_voter(JOINING, planned.directory_id, planned.endpoints)
        await admin.describe_metadata_quorum()
        await asyncio.sleep(1)
        await admin.remove_raft_voter(JOINING, planned.directory_id)
        await admin.describe_metadata_quorum()
        await asyncio.sleep(1)


async def _ready(admin: AdminClient) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if not (await plan_addition(admin, admin, JOINING)).problems:
                return
        except KwireError:
            pass
        await asyncio.sleep(0.3)
    raise SystemExit("the quorum is not ready")


async def terminal(feed: Feed, controllers: list[str]) -> None:
    """The screen with an AddRaftVoter at the cursor, then one with a request that is held."""
    app = WatchApp(feed.address, backlog=1000, view="!~api Fetch,ApiVersions")
    async with app.run_test(size=SIZE) as pilot:
        await change_voters(controllers)
        await pilot.pause(2)
        await _choose(pilot, "AddRaftVoter")
        _save(app, "watch.svg")
        await pilot.press("h", *"~api DescribeQuorum", "enter")
        await pilot.pause(1)
        asking = asyncio.create_task(_describe(controllers[0]))
        await _until(pilot, lambda: any(entry.held for entry in app.flows.shown))
        await _choose(pilot, "DescribeQuorum", held=True)
        details = app.query_one(Details)
        details.focus()
        while not details.edit.startswith("topics.0.partitions"):
            await pilot.press("down")
            await pilot.pause(0.2)
        await pilot.press("e")
        await pilot.pause(1)
        _save(app, "watch-held.svg")
        await pilot.press("escape")
        await pilot.press("h", "enter")
        while not asking.done():
            await pilot.press("R")
            await pilot.pause(0.5)


def _save(app: WatchApp, name: str) -> None:
    """The screen as it is, without the fonts that a picture would fetch from elsewhere."""
    picture = re.sub(
        r"@font-face \{.*?\}", "", app.export_screenshot(title="kwire watch"), flags=re.S
    )
    (HERE / name).write_text(picture, encoding="utf-8")


async def _describe(controller: str) -> None:
    """Ask once, and wait for as long as the request is held."""
    at = Address.parse(controller)
    async with await Connection.open(at.host, at.port, client_id="kwire-admin") as connection:
        with suppress(KwireError):  # of a node that does not lead
            await fetch_quorum(connection, 10 * PATIENCE)


async def _until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await pilot.pause(0.1)
    await pilot.pause(1)


async def _choose(pilot: Pilot[None], api: str, held: bool = False) -> None:
    """Move the cursor to the latest flow of an API."""
    flows = pilot.app.query_one(FlowList)
    assert isinstance(pilot.app, WatchApp)
    for entry in reversed(pilot.app.flows.shown):
        seen = entry.seen
        if isinstance(seen, DecodedFlow) and seen.flow.api == api and entry.held is held:
            flows.choose(entry)
            break
    await pilot.pause(0.5)


def browser(feed: Address) -> None:
    """The same screen in Chromium."""
    from selenium import webdriver

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    kwire = Path(sys.executable).with_name("kwire")
    view = ["--view", "!~api ApiVersions,Fetch"]
    run = [str(kwire), "watch", str(feed), "--web", str(port), *view]
    server = subprocess.Popen(run, stderr=subprocess.PIPE, text=True)
    assert server.stderr
    url = server.stderr.readline().removeprefix("open ").partition(";")[0]
    options = webdriver.ChromeOptions()
    options.binary_location = which("chromium") or ""
    options.add_argument("--disable-dev-shm-usage")  # containers have little of it
    for argument in ("--headless=new", "--no-sandbox", "--window-size=1500,900"):
        options.add_argument(argument)
    service = webdriver.ChromeService(which("chromedriver"))
    try:
        driver = webdriver.Chrome(options, service)
        time.sleep(2)
        driver.get(url)
        time.sleep(25)  # the screen is a canvas, which does not tell what it shows
        driver.save_screenshot(str(HERE / "watch-browser.png"))
        driver.quit()
    finally:
        server.terminate()
        server.wait()


async def main() -> None:
    """Both, or the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--terminal", action="store_true")
    only_terminal = parser.parse_args().terminal
    async with traffic() as (feed, controllers):
        await terminal(feed, controllers)
        if not only_terminal:
            looking = asyncio.create_task(asyncio.to_thread(browser, feed.address))
            while not looking.done():
                with suppress(KwireError):  # a busy machine may see another election
                    await change_voters(controllers)
            await looking


if __name__ == "__main__":
    asyncio.run(main())
