"""Methods of filters that break the rules, with the error that each is reported with."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.proxy import Answer, Call, Delay, Drop, Filter
from kwire.proxy.filters.filter import Until


class OwnException(BaseException):
    """An exception that no library raises."""


async def sleeps(message: Any, call: Call) -> None:
    await asyncio.sleep(0)


async def swallows(message: Any, call: Call) -> None:
    while True:
        try:
            await asyncio.sleep(0)
        except Exception:
            continue


async def forgets(message: Any, call: Call) -> Any:
    return sleeps(message, call)


async def pauses_for(seconds: Any, call: Call) -> None:
    await call.pause(seconds)


async def waits_badly(message: Any, call: Call) -> None:
    def begin(resume: Callable[[None], None]) -> None:
        raise OSError("nobody is there")

    await call.until(begin)


async def waits_and_exits(message: Any, call: Call) -> None:
    await Until(lambda resume: sys.exit(1))


async def asks_nonsense(message: Any, call: Call) -> None:
    await call.ask(VoteRequest(voter_id="three"), 2)  # type: ignore[arg-type]


def yields(message: Any, call: Call) -> Iterator[Drop]:
    yield Drop()


async def yields_later(message: Any, call: Call) -> AsyncIterator[Drop]:
    yield Drop()


def raises(error: BaseException) -> Callable[..., Any]:
    def method(message: Any, call: Call) -> None:
        raise error

    return method


def returns(value: Any) -> Callable[..., Any]:
    return lambda message, call: value


def answers(response: Any, *more: Any) -> Callable[..., Any]:
    return returns(Answer(response, *more))


def sets(**fields: object) -> Callable[..., Any]:
    def method(message: Any, call: Call) -> None:
        for name, value in fields.items():
            setattr(message, name, value)

    return method


def contains_itself(message: Any, call: Call) -> None:
    message.topics = [message]


def loses_a_field(message: Any, call: Call) -> None:
    del message.topics


def delays(seconds: Any, then: Any = None) -> Callable[..., Any]:
    return returns(Delay(seconds, then))


LEFT = "left a message that cannot be encoded"
AWAITS = "a filter can await call.pause, call.ask and call.until"

FAULTY_METHODS: dict[str, tuple[Any, str]] = {
    "a number": (returns(5), "returned an int: return None, Delay, Drop, Close, Stall or Answer"),
    "a truth": (returns(True), "returned a bool"),
    "no truth": (returns(False), "returned a bool"),
    "a text": (returns("drop"), "returned a str"),
    "a class": (returns(Drop), "returned the class Drop: return an object of it"),
    "the message": (lambda message, call: message, "change the message it was given"),
    "another message": (returns(VoteResponse()), "Answer(VoteResponse"),
    "a coroutine": (forgets, "returned a coroutine that nobody awaited"),
    "a generator": (yields, "returned a generator: write `async def` and await, without yield"),
    "an async generator": (yields_later, "returned an async_generator"),
    "a delay of a text": (delays("1s"), "a Delay of a str"),
    "an endless delay": (delays(float("inf")), "a Delay of a number that is not finite"),
    "a delay and a number": (delays(0, 5), "returned an int"),
    "a request for an answer": (answers(VoteRequest()), "with a VoteRequest, which is no response"),
    "the answer of another API": (
        answers(DescribeQuorumResponse()),
        "answered with a DescribeQuorumResponse, which is no answer to Vote",
    ),
    "an effect that is none": (answers(VoteResponse(), "done"), "an effect that is no Effect"),
    "an answer that has no bytes": (
        answers(VoteResponse(error_code=1 << 40)),
        "left an answer that cannot be encoded",
    ),
    "awaiting asyncio": (sleeps, AWAITS),
    "swallowing that": (swallows, AWAITS),
    "a pause of a text": (lambda _, call: pauses_for("1s", call), "it pauses for a str"),
    "an endless pause": (lambda _, call: pauses_for(float("nan"), call), "not finite"),
    "waiting for a failure": (waits_badly, "OSError: nobody is there"),
    "waiting for an exit": (waits_and_exits, "it raised SystemExit"),
    "asking nonsense": (asks_nonsense, "voter_id: 'three' is "),
    "an exception": (raises(ValueError("oh")), "ValueError: oh"),
    "an exit": (raises(SystemExit(3)), "it raised SystemExit"),
    "a cancellation": (raises(asyncio.CancelledError()), "it raised CancelledError"),
    "the end of a generator": (raises(GeneratorExit()), "it raised GeneratorExit"),
    "the end of an iteration": (raises(StopIteration(1)), "it raised StopIteration"),
    "what is no exception": (raises(OwnException()), "it raised Own"),
    "too many arguments": (lambda: None, "TypeError"),
    "a wrong type": (sets(topics=5), LEFT),
    "a wrong element": (sets(topics=[5]), LEFT),
    "a field less": (loses_a_field, LEFT),
    "a circle": (contains_itself, LEFT),
}
"""A method, and what is told of it."""


def filter_of(method: Callable[..., Any], direction: str) -> Filter:
    """A filter with this method for Votes in one direction."""

    def run(self: Filter, *arguments: Any) -> Any:
        return method(*arguments)

    run.__name__ = f"on_vote_{direction}"
    wrong: Filter = type("Wrong", (Filter,), {run.__name__: run})()
    return wrong
