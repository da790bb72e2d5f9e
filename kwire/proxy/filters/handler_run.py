"""Runs the methods of filters on a message, one after the other, and checks what they do.

A method is a function or a coroutine. A coroutine is driven by hand, step by step, so that each
of its steps can be timed and whatever it raises stays its own error.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from inspect import isasyncgen, isawaitable, iscoroutine, isgenerator
from math import isfinite
from typing import Any

from kwire.codec.declaration import Message, Response
from kwire.proxy.filters.chain import FilterHandler
from kwire.proxy.filters.filter import (
    Answer,
    Ask,
    Close,
    Delay,
    Drop,
    FilterVerdict,
    Misuse,
    Pause,
    Stall,
    Until,
)
from kwire.proxy.filters.supervision import Supervision
from kwire.proxy.flows.flow import Effect, Flow

_AWAITABLE = "a filter can await call.pause, call.ask and call.until, nothing else"
_WRONG_AWAITS = 3  # a method that swallows the error each time is not asked for ever
_ACTIONS = "return None, Delay, Drop, Close, Stall or Answer"


async def run_handlers(
    handlers: Sequence[FilterHandler], arguments: Sequence[Any], supervision: Supervision
) -> tuple[FilterHandler | None, FilterVerdict]:
    """Call the filters' methods with a message, one after the other, until one decides.

    Return that method and its action, without delays: those have passed. Return (None, None) where
    none decided, and the message is to be sent on.
    """
    for handler in handlers:
        supervision.begin_handler(handler)
        try:
            verdict = await HandlerRun(handler, arguments, supervision)
        except Exception as error:
            supervision.report_failure(handler, error)
            if supervision.filters.drop_on_error:
                return handler, Drop()
            continue
        while isinstance(verdict, Delay):
            if len(arguments) > 1:  # on_connect has no call, and no flow to mark
                note = f"delayed {verdict.seconds:g} s by {handler.filter.name}"
                arguments[1].flow.add_effect(Effect.DELAYED, note)
            await Pause(verdict.seconds)
            verdict = verdict.then
        if verdict is not None:
            return handler, verdict
    return None, None


class HandlerRun:
    """One run of one method. Await it for the checked verdict.

    Raises Misuse, and any Exception that the method raises. A KeyboardInterrupt is the user's, and
    ends the proxy.
    """

    def __init__(
        self, handler: FilterHandler, arguments: Sequence[Any], supervision: Supervision
    ) -> None:
        self._handler = handler
        self._arguments = arguments
        self._supervision = supervision

    def __await__(self) -> Generator[Any, Any, FilterVerdict]:
        returned = self._run(self._handler.method, *self._arguments)
        if isawaitable(returned):
            returned = yield from self._drive(returned)
        flow = self._arguments[1].flow if len(self._arguments) > 1 else None
        if problem := _verdict_problem(returned, flow):
            raise Misuse(problem)
        verdict: FilterVerdict = returned
        return verdict

    def _drive(self, awaitable: Any) -> Generator[Any, Any, Any]:
        """Run a coroutine from one step that it awaits to the next; return what it returns."""
        steps = self._run(awaitable.__await__)
        value: Any = None
        error: BaseException | None = None
        wrong = 0
        while True:
            step, is_result = self._run(_advance, steps, value, error)
            if is_result:
                return step
            problem = _step_problem(step)
            if not problem:
                if isinstance(step, Until):
                    step = self._checked_until(step)
                try:
                    value, error = (yield step), None
                except GeneratorExit:  # the connection is gone
                    self._close(steps)
                    raise
                except Exception as thrown:
                    value, error = None, thrown
                continue
            wrong += 1
            value, error = None, Misuse(problem)
            if wrong > _WRONG_AWAITS:
                with suppress(Exception):  # one report is enough
                    self._run(getattr(steps, "close", _nothing))
                raise error

    def _checked_until(self, step: Until[Any]) -> Until[Any]:
        """Return the same step with the method's own `begin` run, and timed, like the method."""
        return Until(partial(self._run, step.begin), step.ends_with_client)

    def _close(self, steps: Any) -> None:
        try:
            self._run(getattr(steps, "close", _nothing))
        except Exception as error:
            self._supervision.report_failure(self._handler, error)

    def _run(self, run: Callable[..., Any], *arguments: Any) -> Any:
        """Run code of the method's. Raises Misuse for what is no Exception."""
        clock = self._supervision.clock
        begin = clock()
        try:
            return run(*arguments)
        except KeyboardInterrupt:
            raise
        except StopIteration as error:
            # It would end the coroutine that awaits the method, as if that had returned.
            raise Misuse("it raised StopIteration") from error
        except Exception:
            raise
        except BaseException as error:
            # SystemExit or CancelledError of a filter must not end the proxy or its tasks.
            raise Misuse(f"it raised {type(error).__name__}") from error
        finally:
            self._supervision.report_duration(self._handler, clock() - begin)


def _advance(steps: Any, value: Any, error: BaseException | None) -> tuple[Any, bool]:
    """Return the next step and False, or what the coroutine returns and True."""
    try:
        if error is not None:
            return steps.throw(error), False
        return (next(steps) if value is None else steps.send(value)), False
    except StopIteration as stop:
        return stop.value, True


def _nothing() -> None:
    """Do nothing where an awaitable has no `close`."""


def _step_problem(step: object) -> str:
    """Describe the fault of what a coroutine awaits; "" for none."""
    if isinstance(step, Pause):
        return "" if _is_time(step.seconds) else f"it pauses for {_type_name(step.seconds)}"
    return "" if isinstance(step, Ask | Until) else _AWAITABLE


def _verdict_problem(verdict: object, flow: Flow | None) -> str:
    """Describe the fault of what a method returned; "" for none. flow: of its message."""
    while isinstance(verdict, Delay):
        if not _is_time(verdict.seconds):
            return f"it returned a Delay of {_type_name(verdict.seconds)}: give seconds"
        verdict = verdict.then
    if isinstance(verdict, Answer):
        return _answer_problem(verdict, flow)
    if verdict is None or isinstance(verdict, Drop | Close | Stall):
        return ""
    if isinstance(verdict, type):
        return f"it returned the class {verdict.__name__}: return an object of it"
    name = _type_name(verdict)
    if isinstance(verdict, Message):
        response = isinstance(verdict, Response)
        other = f"Answer({type(verdict).__name__}…)" if response else "None"
        return f"it returned {name}: change the message it was given, or return {other}"
    if isgenerator(verdict) or isasyncgen(verdict):
        return f"it returned {name}: write `async def` and await, without yield"
    if isawaitable(verdict):
        if iscoroutine(verdict):
            verdict.close()  # Python would warn that nobody awaited it
        return f"it returned {name} that nobody awaited: await it in the method"
    return f"it returned {name}: {_ACTIONS}"


def _answer_problem(answer: Answer, flow: Flow | None) -> str:
    response = answer.response
    if not isinstance(response, Response):
        return f"it answered with {_type_name(response)}, which is no response"
    if flow is not None and type(response).key != flow.key:
        return f"it answered with {_type_name(response)}, which is no answer to {flow.api}"
    if not (isinstance(answer.effect, Effect) and isinstance(answer.note, str)):
        return "it answered with an effect that is no Effect, or a note that is no text"
    return ""


def _is_time(seconds: object) -> bool:
    return isinstance(seconds, int | float) and isfinite(seconds)


def _type_name(value: object) -> str:
    name = "number that is not finite" if isinstance(value, float) else type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
