"""Runs the methods of filters, and reports what they do that they must not.

A method may raise anything, return or await what no filter can, or block: that is its own error.
The connection, the proxy and the filters behind it go on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import isasyncgen, isawaitable, iscoroutine, isgenerator
from math import isfinite
from typing import TYPE_CHECKING, Any

from kwire.codec.declaration import Message, Response
from kwire.errors import LocalError
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.filters.filter import Answer, Ask, Close, Delay, Drop, Pause, Stall, Until, Verdict
from kwire.proxy.flows.flow import Deed, Flow, Kind
from kwire.proxy.flows.masks import without_secret
from kwire.proxy.flows.whole import Whole

if TYPE_CHECKING:
    from kwire.proxy.filters.chain import Filters, Handler

SLOW = 0.1
"""Seconds from which on a method that did not await is reported: all connections waited for it."""

_AWAITABLE = "a filter can await call.pause, call.ask and call.until, nothing else"
_WRONG_AWAITS = 3  # a method that swallows the error each time is not asked for ever
_ACTIONS = "return None, Delay, Drop, Close, Stall or Answer"


class Misuse(LocalError):
    """A method of a filter returned, awaited or raised what it must not."""


@dataclass(slots=True, eq=False)
class Supervision:
    """The faults of the methods that see one message.

    flow: None where a client connects. clock: of the steady clock, in seconds. ran: the methods so
    far; broken: whether one of them has failed. whole: the message.
    """

    filters: Filters
    pairing: Pairing
    flow: Flow | None
    clock: Callable[[], float]
    ran: list[Handler]
    whole: Whole | None = None
    broken: bool = False
    _changed: bool = False
    _known: bytes | None = None

    def begins(self, handler: Handler) -> None:
        """A method is to run: tell changes by those that mark theirs from those by others."""
        before = self.ran[-1].filter.marks_changes if self.ran else handler.filter.marks_changes
        if handler.filter.marks_changes is not before:
            self.settle(marked=before)
        self.ran.append(handler)

    def settle(self, *, marked: bool) -> None:
        """Look at what has changed so far. marked: by methods that mark it themselves."""
        if self.whole is None:
            return
        try:
            if not marked:
                self._changed = self._differs
            self._known = self.whole.body.encode(self.whole.version)
        except Exception:  # what cannot be encoded is told of at the end
            self._changed = True

    @property
    def changed(self) -> bool:
        """True if a message that is not as it came was changed by methods that do not mark that.

        Raises what encoding raises.
        """
        marked = bool(self.ran) and self.ran[-1].filter.marks_changes
        return self._changed if marked else self._differs

    @property
    def _differs(self) -> bool:
        """True if methods that do not mark their changes have made some."""
        if self._changed or self.whole is None:
            return self._changed
        if self._known is None:
            return self.whole.encode() is not self.whole.frame
        return self.whole.body.encode(self.whole.version) != self._known

    def inside(self, whole: Whole) -> Supervision:
        """The supervision of the message in this one, an Envelope."""
        return Supervision(self.filters, self.pairing, self.flow, self.clock, [], whole)

    def came_from_inside(self, inner: Supervision) -> None:
        """Note that what methods did inside has been put into the Envelope."""
        self.broken |= inner.broken
        if any(one.filter.marks_changes for one in inner.ran):
            self._changed |= inner.changed
            self.settle(marked=True)
        self.ran += inner.ran

    def failed(self, handler: Handler, error: BaseException) -> None:
        """A method raised, or did what it must not: the flow says so, and the first one aloud."""
        self.broken = True
        said = _said(error)
        if self.flow is not None:
            self.flow.problems.append(f"{handler.name} failed: {said}")
        if self.filters.is_news(handler.name, error):
            self._tell(
                Kind.FILTER_FAILED, f"{handler.name} failed, {self._fate}: {said}; told once"
            )

    def unsendable(self, error: Exception, what: str, handler: Handler | None = None) -> None:
        """Report a message that cannot be encoded. what: the fault; handler: whose, if known."""
        names = [handler.name] if handler is not None else [one.name for one in self.ran]
        name = names[0] if len(names) == 1 else f"one of {', '.join(dict.fromkeys(names))}"
        self.broken = True
        said = without_secret(error)
        text = f"{name} left {what} that cannot be encoded, {self._fate}"
        if self.flow is not None:
            self.flow.problems.append(f"{text}: {said}")
        if self.filters.is_news(name, error):
            self._tell(Kind.FILTER_FAILED, f"{text}: {said}; told once")

    def took(self, handler: Handler, seconds: float) -> None:
        """A method ran so long without awaiting."""
        if seconds >= SLOW and self.filters.is_slower(handler.name, seconds):
            text = f"{handler.name} took {seconds:.3g} s, and every connection waited for it"
            self._tell(Kind.FILTER_SLOW, f"{text}; told again when it takes twice as long")

    @property
    def _fate(self) -> str:
        if self.flow is None:
            return "the client is refused" if self.filters.drop_on_error else "the client is let in"
        dropped = self.filters.drop_on_error
        return "the message is dropped" if dropped else "the message is sent on as it came"

    def _tell(self, kind: Kind, text: str) -> None:
        flow = self.flow
        where = "" if flow is None else f"{flow.api} v{flow.version}: "
        at = self.pairing.connection.at if flow is None else flow.at
        self.pairing.tell(kind, f"{where}{text}", at)


class Supervised:
    """Awaits one method: what it returns, checked. Raises Misuse, and Exceptions of the method's.

    A KeyboardInterrupt is the user's, and ends the proxy.
    """

    def __init__(
        self, handler: Handler, arguments: Sequence[Any], supervision: Supervision
    ) -> None:
        self._handler = handler
        self._arguments = arguments
        self._supervision = supervision

    def __await__(self) -> Generator[Any, Any, Verdict]:
        returned = self._run(lambda: self._handler.method(*self._arguments))
        if isawaitable(returned):
            returned = yield from self._steps(returned)
        flow = self._arguments[1].flow if len(self._arguments) > 1 else None
        if problem := _problem(returned, flow):
            raise Misuse(problem)
        verdict: Verdict = returned
        return verdict

    def _steps(self, awaitable: Any) -> Generator[Any, Any, Any]:
        """Drive a coroutine from one step that it awaits to the next."""
        steps = self._run(awaitable.__await__)
        value: Any = None
        error: BaseException | None = None
        wrong = 0
        while True:
            try:
                step = self._run(lambda: _advance(steps, value, error))  # noqa: B023
            except _Returned as returned:
                return returned.value
            problem = _wrong_step(step)
            if not problem:
                if isinstance(step, Until):
                    step = self._until(step)
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
                with suppress(Exception):  # one sentence is enough
                    self._run(getattr(steps, "close", lambda: None))
                raise error

    def _until(self, step: Until[Any]) -> Until[Any]:
        """The same, with the method's own function run like the method."""
        return Until(lambda resume: self._run(lambda: step.begin(resume)), step.lapses)

    def _close(self, steps: Any) -> None:
        try:
            self._run(getattr(steps, "close", lambda: None))
        except Exception as error:
            self._supervision.failed(self._handler, error)

    def _run(self, run: Callable[[], Any]) -> Any:
        """Run code of the method's. Raises Misuse for what is no Exception."""
        clock = self._supervision.clock
        begin = clock()
        try:
            return run()
        except (KeyboardInterrupt, _Returned):
            raise
        except StopIteration as error:  # it would end whoever awaits the method instead
            raise Misuse("it raised StopIteration") from error
        except Exception:
            raise
        except BaseException as error:
            raise Misuse(f"it raised {type(error).__name__}") from error
        finally:
            self._supervision.took(self._handler, clock() - begin)


class _Returned(BaseException):
    """The coroutine has ended with this value."""

    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


def _advance(steps: Any, value: Any, error: BaseException | None) -> Any:
    try:
        if error is not None:
            return steps.throw(error)
        return next(steps) if value is None else steps.send(value)
    except StopIteration as stop:
        raise _Returned(stop.value) from None


def _wrong_step(step: object) -> str:
    """Tell what is wrong with what a coroutine awaits; "" for nothing."""
    if isinstance(step, Pause):
        return "" if _is_time(step.seconds) else f"it pauses for {_kind(step.seconds)}"
    return "" if isinstance(step, Ask | Until) else _AWAITABLE


def _problem(verdict: object, flow: Flow | None) -> str:
    """Tell what is wrong with what a method returned; "" for nothing. flow: of its message."""
    while isinstance(verdict, Delay):
        if not _is_time(verdict.seconds):
            return f"it returned a Delay of {_kind(verdict.seconds)}: give seconds"
        verdict = verdict.then
    if isinstance(verdict, Answer):
        return _wrong_answer(verdict, flow)
    if verdict is None or isinstance(verdict, Drop | Close | Stall):
        return ""
    if isinstance(verdict, type):
        return f"it returned the class {verdict.__name__}: return an object of it"
    if isinstance(verdict, Message):
        response = isinstance(verdict, Response)
        other = f"Answer({type(verdict).__name__}…)" if response else "None"
        return f"it returned {_kind(verdict)}: change the message it was given, or return {other}"
    if isgenerator(verdict) or isasyncgen(verdict):
        return f"it returned {_kind(verdict)}: write `async def` and await, without yield"
    if isawaitable(verdict):
        if iscoroutine(verdict):
            verdict.close()  # Python would warn that nobody awaited it
        return f"it returned {_kind(verdict)} that nobody awaited: await it in the method"
    return f"it returned {_kind(verdict)}: {_ACTIONS}"


def _wrong_answer(answer: Answer, flow: Flow | None) -> str:
    response = answer.response
    if not isinstance(response, Response):
        return f"it answered with {_kind(response)}, which is no response"
    if flow is not None and type(response).key != flow.key:
        return f"it answered with {_kind(response)}, which is no answer to {flow.api}"
    if not (isinstance(answer.deed, Deed) and isinstance(answer.note, str)):
        return "it answered with a deed that is no Deed, or a note that is no text"
    return ""


def _is_time(seconds: object) -> bool:
    return isinstance(seconds, int | float) and isfinite(seconds)


def _kind(value: object) -> str:
    name = "number that is not finite" if isinstance(value, float) else type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, Misuse) else f"{type(error).__name__}: {error}"
