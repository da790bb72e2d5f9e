"""A check: a sentence, its source, and what is done to see whether a server keeps it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, partialmethod
from typing import TYPE_CHECKING, Any

from kwire.codec.declaration import Request
from kwire.conform.expectation import Expectation, expect_error, judge
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, kip
from kwire.error_codes import ErrorCode

if TYPE_CHECKING:
    from kwire.conform.server import Server

Run = Callable[["Server"], Awaitable[None]]
"""Carries out a check; returns for PASS, else raises Deviation, Skipped or Informed."""

AskServer = Callable[["Server"], Awaitable[Any]]
"""Asks a server; returns its answer, which is then judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One of a family: the same sentence for an API, a version, a field. id: `Fetch-v12`."""

    id: str
    run: Run


Members = Callable[["Server"], Iterator[Member]]
VersionRun = Callable[["Server", int], Awaitable[None]]
"""Carries out a check in one version of an API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One sentence, made checkable. id: `group/section/number`, given by its section.

    alone: nothing else may go on meanwhile, since the server may die of it or the check looks at
    the whole server. members: of a family, made from what the server offers; run is then unused.
    together: how many of them are run at once.
    """

    sentence: str
    source: SentenceSource
    run: Run
    id: str = ""
    role: ServerRole = ServerRole.ANY
    needs: Need = Need.NOTHING
    alone: bool = False
    members: Members | None = None
    together: int = 1

    @property
    def group(self) -> str:
        """The first part of the id."""
        return self.id.partition("/")[0]


def gets(sentence: str, *codes: int | None) -> str:
    """Return a sentence with the name of its first error code: `A name of 250 letters gets`.

    One that has an end of its own stays as it is.
    """
    return sentence if sentence.endswith(".") else f"{sentence} {ErrorCode(codes[0] or 0).name}."


def scenario(
    sentence: str,
    source: SentenceSource,
    *,
    role: ServerRole = ServerRole.ANY,
    needs: Need = Need.NOTHING,
    alone: bool = False,
) -> Callable[[Run], Check]:
    """Return a decorator that makes a check of a coroutine function."""
    return lambda run: Check(
        sentence=sentence, source=source, run=run, role=role, needs=needs, alone=alone
    )


broker_scenario = partial(scenario, role=ServerRole.BROKER, needs=Need.RESOURCES)
"""Like `scenario`, for a broker, with things that the check creates."""


class CheckSection:
    """Checks of one subject, declared one by one in its module, each with its number.

        SECTION = CheckSection("topics/delete", "Topics are deleted")

        @SECTION.check(1, kip(4, "DeleteTopics"))
        async def _(server: Server) -> None:
            "A topic that is deleted is gone."
            ...

        SECTION[2] = exchange("An empty request is answered.", ...)

    path: `versions/kip-511`. A number is never given again.
    """

    def __init__(self, path: str, title: str) -> None:
        self.path = path
        self.title = title
        self._checks: dict[int, Check] = {}

    def __setitem__(self, number: int, check: Check) -> None:
        assert number not in self._checks, f"{self.path}/{number} is given twice"
        self._checks[number] = replace(check, id=f"{self.path}/{number}")

    def __iter__(self) -> Iterator[Check]:
        return (check for _, check in sorted(self._checks.items()))

    def check(
        self,
        number: int,
        source: SentenceSource,
        *,
        role: ServerRole = ServerRole.ANY,
        needs: Need = Need.NOTHING,
        alone: bool = False,
    ) -> Callable[[Run], Run]:
        """Return a decorator that makes a check of a coroutine function; its docstring is it."""

        def declare(run: Run) -> Run:
            sentence = _docstring(run)
            self[number] = scenario(sentence, source, role=role, needs=needs, alone=alone)(run)
            return run

        return declare

    def refuses(
        self,
        number: int,
        source: SentenceSource,
        *codes: ErrorCode,
        differs: tuple[ErrorCode, ...] = (),
        role: ServerRole = ServerRole.ANY,
        needs: Need = Need.NOTHING,
        alone: bool = False,
    ) -> Callable[[AskServer], AskServer]:
        """Return a decorator that makes a check of a coroutine function that returns an answer.

        The answer has to have one of the codes. The first ends the sentence: `An empty name gets`.
        differs: legal ones, which Apache Kafka does not give.
        """

        def declare(ask: AskServer) -> AskServer:
            async def run(server: Server) -> None:
                expect_error(await ask(server), *codes, differs=differs)

            sentence = gets(_docstring(ask), *codes)
            self[number] = scenario(sentence, source, role=role, needs=needs, alone=alone)(run)
            return ask

        return declare

    broker_check = partialmethod(check, role=ServerRole.BROKER, needs=Need.RESOURCES)
    """Like `check`, for a broker, with things that the check creates."""
    broker_refuses = partialmethod(refuses, role=ServerRole.BROKER, needs=Need.RESOURCES)
    """Like `refuses`, for a broker, with things that the check creates."""


def _docstring(function: Run | AskServer) -> str:
    return " ".join((function.__doc__ or "").split())


def exchange(
    sentence: str,
    source: SentenceSource,
    *,
    send: Request | Callable[[Server], Request],
    expect: Expectation,
    differs: Expectation | None = None,
    version: int | None = None,
    since: int | None = None,
    role: ServerRole = ServerRole.ANY,
    needs: Need = Need.NOTHING,
) -> Check:
    """Return a check that sends one request and judges the reaction.

    version: by default the highest that both have; another is sent even if it is not offered.
    since: a version without which the server is not asked.
    """

    async def run(server: Server) -> None:
        request = send if isinstance(send, Request) else send(server)
        connection = await server.connection()
        if version is None or since is not None:
            connection.demand(type(request), *([] if since is None else [since]))
        server.allow(expect, differs)
        judge(await connection.exchange(request, version), expect, differs)

    said = gets(sentence, expect.code)
    return Check(sentence=said, source=source, run=run, role=role, needs=needs)


def family(
    sentence: str,
    source: SentenceSource,
    members: Members,
    *,
    role: ServerRole = ServerRole.ANY,
    needs: Need = Need.NOTHING,
    alone: bool = False,
    together: int = 1,
) -> Check:
    """Return a check with one sentence for many members, counted as one.

    together: how many of them are run at once.
    """

    async def run(server: Server) -> None:
        raise AssertionError("the members are run")

    return Check(
        sentence=sentence,
        source=source,
        run=run,
        role=role,
        needs=needs,
        alone=alone,
        members=members,
        together=together,
    )


def in_each_version(
    request: type[Request], versions: Iterable[int] | None = None
) -> Callable[[VersionRun], Members]:
    """Return a decorator that makes a member of each version of an API that the server offers.

    versions: only these; by default all that are declared.
    """

    def declare(run: VersionRun) -> Members:
        def members(server: Server) -> Iterator[Member]:
            assert request.key is not None, "every request has an API key"
            offered = server.target.versions.api_versions.get(request.key)
            for version in request.versions if versions is None else versions:
                if offered is not None and version in offered:
                    yield Member(id=f"v{version}", run=partial(_run_in, run, version))

        return members

    return declare


async def _run_in(run: VersionRun, version: int, server: Server) -> None:
    await run(server, version)


async def _before_the_others(server: Server) -> None:
    raise AssertionError("it is run before there is a target")


FIRST = Check(
    id="start/server/1",
    sentence="A server answers ApiVersions v0, whatever else it does.",
    source=kip(35, "Public Interfaces"),
    run=_before_the_others,
)
"""The check that every run begins with, and without which there is no other."""
