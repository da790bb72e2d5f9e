"""Attacks on the native engine: by bytes of a peer, and by objects of a careless caller.

Each function asserts that the native engine and the reference agree: on the object, on the bytes,
on the words of the error. Run plainly by test_attack.py, under sanitizers by
tests/support/sanitize.py.
"""

from __future__ import annotations

import sys
import threading
from array import array
from collections.abc import Callable, Iterator
from functools import cache, partial
from random import Random
from typing import Any
from uuid import UUID

import msgspec

import kwire
import vectors
from kwire.codec.reference import Reference
from tests.support.native_extensions import collecting, interfere, needs_extension

with needs_extension():
    from kwire.codec import native as native

RELEASES = ("4.4.0", "3.9.1")
"""Nearly all that 4.3.1 has is in 4.4.0 as well."""

CHANGED = {"ReadShareGroupStateSummaryResponse", "ShareGroupMetadataValue"}
"""Their v0 of 3.9.1 was laid out anew in Kafka 4 under the same number."""


def attacks(seed: int, effort: int) -> dict[str, Callable[[], object]]:
    """Return all attacks, by what they do; effort 1 takes about a minute with sanitizers."""
    each = 5 * effort
    return {
        "vectors there and back": round_trips,
        "mutants accepted, rejected": partial(mutants, seed, step=15, each=each),
        "spoilt objects written, refused": partial(hostile_objects, seed, step=15, each=each),
        "collected while read and written": partial(collected, step=20),
        "objects changed while written": partial(meddled, 200 * effort),
        "objects changed by another thread": partial(threads, 2.0 * effort),
        "elements taken away while written": partial(emptied, 5 * effort),
    }


class Pair:
    """The two engines of one message at one version."""

    def __init__(self, name: str, version: int) -> None:
        self.reference: Reference = kwire.message(name).reference(version)
        program = native.engine(self.reference)
        assert program is not None, f"{name} v{version} has no native engine"
        self.native: native.Program = program

    def agree_on_bytes(self, data: bytes) -> bool:
        """Compare both engines; return whether they accept. What native rejects it hands over."""
        before = self.native.fallbacks
        wanted, got = _outcome(self.reference.decode, data), _outcome(self.native.decode, data)
        assert repr(got) == repr(wanted), f"{self.reference.message} {data.hex()}"
        accepted = isinstance(wanted, tuple)
        assert (self.native.fallbacks == before) == accepted, f"fell back on {data.hex()}"
        if accepted:
            self.agree_on_object(got[0])
        return accepted

    def agree_on_object(self, obj: Any) -> bool:
        """Compare both engines; return whether they write the object."""
        wanted, got = _outcome(self.reference.encode, obj), _outcome(self.native.encode, obj)
        assert repr(got) == repr(wanted), f"{self.reference.message} {obj!r}"
        return isinstance(wanted, bytes)


@cache
def pair_of(name: str, version: int) -> Pair:
    """The pair of a message that all vectors of it share."""
    return Pair(name, version)


def _outcome(function: Callable[..., Any], argument: Any) -> Any:
    try:
        return function(argument, 0) if isinstance(argument, bytes) else function(argument)
    except Exception as error:  # the point: any error must be the same error
        return f"{type(error).__name__}: {error}"


def all_vectors(step: int = 1, start: int = 0) -> Iterator[vectors.Vector]:
    """Every `step`th vector of both releases whose layout is the declared one."""
    for release in RELEASES:
        for index, vector in enumerate(vectors.messages(release)):
            changed = release == "3.9.1" and vector.name in CHANGED and vector.version == 0
            if index % step == start % step and not changed:
                yield vector


def round_trips(step: int = 1) -> int:
    """Vectors that the native engine read and wrote back by itself, byte for byte."""
    count = 0
    for vector in all_vectors(step):
        program = pair_of(vector.name, vector.version).native
        obj, end = program.decode(vector.data, 0)
        assert end == len(vector.data)
        assert program.encode(obj) == vector.data, f"{vector.name} v{vector.version}"
        assert program.fallbacks == 0, f"{vector.name} v{vector.version} left to the reference"
        count += 1
    return count


def mutate(data: bytes, random: Random) -> bytes:
    """The bytes with one or two faults: cut, flipped, overwritten, inserted, doubled."""
    mutant = bytearray(data)
    for _ in range(random.choice((1, 1, 2))):
        at = random.randrange(len(mutant) + 1)
        match random.randrange(6):
            case 0:
                del mutant[at:]
            case 1 if at < len(mutant):
                mutant[at] ^= 1 << random.randrange(8)
            case 2:
                mutant[at : at + 4] = random.choice(LENGTHS)
            case 3:
                mutant[at:at] = random.randbytes(random.randrange(1, 6))
            case 4:
                mutant[at:at] = mutant[at : at + random.randrange(1, 40)]
            case _:
                del mutant[at : at + random.randrange(1, 8)]
    return bytes(mutant)


LENGTHS = (
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\x7f",
    b"\x80\x80\x80\x80\x80\x01",
    b"\x00\x00\x00\x00",
    b"\x01\x01\x01\x01",
)
"""Claims of the largest, the negative, the over-long and the empty."""


def mutants(seed: int, *, step: int, each: int) -> tuple[int, int]:
    """Compare the engines on mutants; return how many both accepted and how many they rejected."""
    random = Random(seed)
    counts = [0, 0]
    for vector in all_vectors(step, seed):
        if len(vector.data) < 20_000:
            pair = pair_of(vector.name, vector.version)
            for _ in range(each):
                counts[pair.agree_on_bytes(mutate(vector.data, random))] += 1
    return counts[1], counts[0]


class Int(int):
    """An int that is not one exactly."""


class Str(str):
    """A string that is not one exactly."""


class List(list[Any]):
    """A list that is not one exactly."""


class Dict(dict[Any, Any]):
    """A dict that is not one exactly."""


HOSTILE: tuple[Any, ...] = (
    None,
    0,
    -1,
    255,
    1 << 31,
    1 << 63,
    1 << 200,
    True,
    Int(7),
    1.5,
    "",
    "é",
    "\udc80\udcff",
    "\ud800",
    "x" * 40_000,
    Str("s"),
    b"",
    b"bytes",
    bytearray(b"array"),
    memoryview(b"view"),
    memoryview(b"every other")[::2],
    memoryview(array("I", [1, 2])),
    (),
    (1, 2),
    (None,),
    [],
    [None],
    [1],
    List([]),
    {},
    {5: b"tag"},
    {0: b"known tag"},
    {1 << 32: b"too large"},
    {-1: b""},
    {"name": b""},
    {7: "text"},
    Dict({6: b""}),
    UUID(int=0),
    UUID(int=(1 << 128) - 1),
    object(),
)
"""Values that a field may be given, right or wrong."""


def spoil(obj: Any, random: Random) -> None:
    """Give one field, at any depth, a hostile value, or none at all."""
    while True:
        name = random.choice(type(obj).__struct_fields__)
        value = getattr(obj, name, None)
        if isinstance(value, list) and value and random.random() < 0.8:
            index = random.randrange(len(value))
            if not isinstance(value[index], msgspec.Struct) or random.random() < 0.1:
                value[index] = random.choice(HOSTILE)
                return
            obj = value[index]
        elif isinstance(value, msgspec.Struct) and random.random() < 0.8:
            obj = value
        elif random.random() < 0.03:
            setattr(obj, name, None)  # first, since it may be missing already
            type(obj).__dict__[name].__delete__(obj)
            return
        else:
            setattr(obj, name, random.choice(HOSTILE))
            return


def hostile_objects(seed: int, *, step: int, each: int) -> tuple[int, int]:
    """Compare the engines on spoilt objects; return how many both wrote, how many they refused."""
    random = Random(seed)
    counts = [0, 0]
    for vector in all_vectors(step, seed):
        if len(vector.data) < 20_000:
            pair = pair_of(vector.name, vector.version)
            for _ in range(each):
                obj, _ = pair.reference.decode(vector.data, 0)
                spoil(obj, random)
                counts[pair.agree_on_object(obj)] += 1
    return counts[1], counts[0]


def collected(step: int) -> int:
    """Vectors read and written while the collector runs all the time; how often it came by.

    Each time it looks at everything it knows, which must be whole, and enters the engine again.
    """
    random = Random(0)
    other = Pair("AddRaftVoterRequest", 1).native
    message = other.encode(kwire.message("AddRaftVoterRequest")())
    kept = []  # or Python would use the same lists again and have nothing to collect

    def enter_again() -> None:
        fresh = message[:9] + random.randbytes(16) + message[25:]  # a UUID that no cache has
        assert other.encode(other.decode(fresh, 0)[0]) == fresh

    chosen = [(pair_of(v.name, v.version).native, v.data) for v in all_vectors(step)]
    with collecting(enter_again) as visits:
        for program, data in chosen:
            kept.append(program.decode(data, 0)[0])
            assert program.encode(kept[-1]) == data
    return len(visits)


class Meddler:
    """Compares like any object, and changes the tree that is being written while it does."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        self.meddle = meddle

    def __eq__(self, other: object) -> bool:
        self.meddle()
        return False

    __hash__ = None  # type: ignore[assignment]  # as for any class with an __eq__ of its own


def meddled(times: int) -> int:
    """Write trees that lose their list during a comparison; return how often native gave up."""
    response = kwire.message("FetchResponse")
    pair = Pair("FetchResponse", 13)
    for turn in range(times):
        obj: Any = response()
        topic = type(obj).fields["responses"].type.element.cls
        partition = topic.fields["partitions"].type.element.cls
        topics = obj.responses = [topic(partitions=[partition() for _ in range(50)])]
        inner = topics[0].partitions

        def meddle(inner: list[Any] = inner, topics: list[Any] = topics, turn: int = turn) -> None:
            inner[:] = [] if turn % 2 else inner[:1] * 90
            topics.clear()

        inner[turn % 50].diverging_epoch = Meddler(meddle)
        _outcome(pair.native.encode, obj)
    return pair.native.fallbacks


def threads(seconds: float) -> int:
    """Read and write in three threads while a fourth changes the object; return the rounds."""
    vector = max(
        (v for v in all_vectors() if v.name == "MetadataResponse" and len(v.data) < 20_000),
        key=lambda v: len(v.data),
    )
    pair = pair_of(vector.name, vector.version)
    obj, _ = pair.native.decode(vector.data, 0)
    stop = threading.Event()
    rounds = 0

    def write() -> None:
        nonlocal rounds
        while not stop.is_set():
            _outcome(pair.native.encode, obj)
            rounds += 1

    def read() -> None:
        while not stop.is_set():
            assert pair.native.encode(pair.native.decode(vector.data, 0)[0]) == vector.data

    def change() -> None:
        random = Random(1)
        while not stop.is_set():
            spoil(obj, random)

    _race([write, write, read, change], stop, seconds)
    return rounds


MOST_TRIES = 100
"""For each removal that is to be noticed: a loaded machine may run the other thread too late."""


def emptied(times: int) -> int:
    """Write many elements while another thread removes them; return how often that was noticed.

    It is tried until it was noticed so many times.
    """
    pair = Pair("CreateTopicsRequest", 7)
    for _ in range(times * MOST_TRIES):
        if pair.native.fallbacks == times:
            break
        _empty_while_written(pair)
    return pair.native.fallbacks


def _empty_while_written(pair: Pair) -> None:
    request: Any = kwire.message("CreateTopicsRequest")
    topic = request.fields["topics"].type.element.cls
    config = topic.fields["configs"].type.element.cls
    topics = [topic(configs=[config() for _ in range(3)]) for _ in range(100_000)]
    obj = request(topics=topics)

    def empty() -> None:
        for one in topics:
            one.configs.clear()
        topics.clear()

    interfere(lambda: _outcome(pair.native.encode, obj), empty)


def _race(tasks: list[Callable[[], None]], stop: threading.Event, seconds: float) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    failures: list[BaseException] = []

    def guarded(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as failure:
            failures.append(failure)

    workers = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    try:
        for worker in workers:
            worker.start()
        stop.wait(seconds)
    finally:
        stop.set()
        for worker in workers:
            worker.join()
        sys.setswitchinterval(interval)
    assert not failures, failures
