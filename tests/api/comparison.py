"""Everything that could distinguish two worlds: responses, their sizes and framing, log lines, metrics."""

import gzip
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from api.http import compression
from service.games.protocol import CLOCK, IllegalAction, Move, fold
from service.games.visibility import Seat
from service.match import rulings
from service.match.model import Match
from service.observability import metrics
from service.observability.logfmt import Logfmt
from service.usecases import submit
from tests.api.limits_reset import reset_limits
from tests.api.metrics_reset import forget_requests
from tests.api.world_setup import World, WorldSetup, mask
from tests.api.worlds import Pair, Step, alike_moves
from tests.service.games.matches import spread, ways

_TIMES: Final = re.compile(r"\b(at|ms|request|pid)=\S+")
_DURATIONS: Final = re.compile(r"_(bucket|sum|created)\b|_seconds$")


class Request(NamedTuple):
    """A request. Of a stream, only the first `pieces` chunks are read; 0 reads the whole answer."""

    path: str
    headers: Mapping[str, str] = {}
    body: object = None
    method: str = "GET"
    pieces: int = 0


class Answer(NamedTuple):
    """A response and the chunks of its body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[bytes, ...]


class Traces(NamedTuple):
    """What a server recorded about some requests: log lines without times, and the increase of each metric."""

    lines: list[str]
    counts: Mapping[str, float]


Row: TypeAlias = Callable[[World], Iterable[Request]]
"""Makes the requests of one route about a world."""


class Comparison:
    """Both worlds of a pair, and the callers that must not be able to distinguish them."""

    def __init__(self, setup: WorldSetup, pair: Pair, here: World, there: World, bot: Seat | None = None) -> None:
        self._setup, self.pair = setup, pair
        self.here, self.there = here, there
        others = {"creator": setup.creator.token, "stranger": setup.stranger.token}
        self.anonymous: Mapping[str, str | None] = {"anonymous": None} if None in pair.viewers else {}
        self.others: Mapping[str, str | None] = others if None in pair.viewers else {}
        self.seats: Mapping[str, str | None] = {
            f"seat {seat}": setup.people[seat].token for seat in sorted(self.unaware - {bot})
        }

    @property
    def unaware(self) -> set[Seat]:
        """The seats that cannot distinguish the worlds."""
        return {viewer for viewer in self.pair.viewers if viewer is not None}

    def compare(self, rows: Iterable[Row], callers: Mapping[str, str | None]) -> None:
        """Send the same requests about both worlds, and fail if a response, log line or metric differs."""
        rows = tuple(rows)
        results = []
        for world in (self.here, self.there):
            with traces() as recorded:
                answers = {caller: self._answers(world, rows, token) for caller, token in callers.items()}
            results.append((answers, recorded))
            assert not [line for line in recorded.lines for secret in world.hidden if secret.decode() in line]
        (here, traces_here), (there, traces_there) = results
        for caller in callers:
            for (request, one), (_, other) in zip(here[caller], there[caller], strict=True):
                assert one == other, f"{caller} can tell the worlds apart: {request}"
        assert traces_here == traces_there, "the log or the metrics tell the worlds apart"

    def _answers(self, world: World, rows: Iterable[Row], token: str | None) -> Sequence[tuple[Request, Answer]]:
        masks = world.masks()
        return [(request, masked(world, self._fetch(request, token), masks)) for row in rows for request in row(world)]

    def _fetch(self, request: Request, token: str | None) -> Answer:
        """A response as it was received."""
        # Answers show how much of a rate limit is left: reset the limits, so that this is the same in both worlds.
        reset_limits(self._setup.ports.limits)
        headers = dict(request.headers) | ({"Authorization": f"Bearer {token}"} if token else {})
        data = None if request.body is None else msgspec.json.encode(request.body)
        if data is not None:
            headers["Content-Type"] = "application/json"
        client = self._setup.app.test_client()
        with closing(client.open(request.path, method=request.method, headers=headers, data=data)) as answer:
            pieces = tuple(islice(answer.iter_encoded(), request.pieces)) if request.pieces else (answer.get_data(),)
            return Answer(answer.status_code, tuple(answer.headers), pieces)

    def move(self, *, by: Iterable[Seat]) -> Seat | None:
        """Let one of these seats move in both worlds, so that viewers who could not tell the worlds apart still cannot.

        Its hidden effects differ between the worlds if possible. Return the seat; None if no such move exists.
        """
        matches = self._setup.match(self.here), self._setup.match(self.there)
        for decision in matches[0].decisions():
            if decision.seat == CLOCK or decision.seat not in set(by):
                continue
            at = max(self._setup.time, decision.opens_at)
            actions: tuple[Any, Any] | None = None
            for here, there in self._moves(*matches, decision.seat, at):
                one, other = self._step(matches[0], here), self._step(matches[1], there)
                if one is None or other is None or not self._look_alike(one, other):
                    continue
                differs = one.effects != other.effects
                if differs or actions is None:
                    actions = here.action, there.action
                if differs:
                    break
            if actions is not None:
                self._setup.time = at
                self._act(decision.seat, *actions)
                return decision.seat
        return None

    def _moves(self, here: Match, there: Match, seat: Seat, at: int) -> Iterator[tuple[Move[Any], Move[Any]]]:
        table, viewer = self.pair.table, seat if seat in self.pair.viewers else None
        legal = spread(tuple(table.game.legal_actions(here.state, seat)), 12)
        for action in (action for entry in legal for action in ways(entry)[:2]):
            move = Move(seat, action, at)
            alike = tuple(islice(alike_moves(table, move, viewer, there.state), 4))
            yield from ((move, other) for other in (*alike[1:], alike[0]))

    def _step(self, match: Match, move: Move[Any]) -> Step | None:
        rng, game = rulings.draws(match, lambda: submit.server_seed(self._setup.ports, match)), self.pair.table.game
        try:
            effects = game.decide(match.state, move, rng)
        except IllegalAction:
            return None
        return Step(move.at, move, effects, tuple(rng.drawn), fold(game, match.state, effects))

    def _look_alike(self, here: Step, there: Step) -> bool:
        """Whether two moves look the same to each of the viewers, and neither ends the match."""
        table = self.pair.table
        if not (table.game.decisions(here.state) and table.game.decisions(there.state)):
            return False
        return all(here.look(table, viewer) == there.look(table, viewer) for viewer in self.pair.viewers)

    def _act(self, seat: Seat, here: Any, there: Any) -> None:
        bodies = [{"action": msgspec.to_builtins(action)} for action in (here, there)]
        self._post(seat, "actions", bodies, 201)

    def leave(self) -> None:
        """Let a seat that cannot distinguish the worlds leave the match in both."""
        for seat in sorted(self.unaware)[:1]:
            self._post(seat, "leave", [{}, {}], 200)

    def _post(self, seat: Seat, route: str, bodies: Sequence[object], status: int) -> None:
        """Send a seat's command twice, and then as a stranger and without a token, all with one idempotency key.

        The answers must be the same in both worlds; those to the seat itself only if it cannot distinguish the worlds.
        """
        key = {"Idempotency-Key": f"{route}-{self.here.version}"}
        received: list[list[Answer]] = []
        recorded: list[Traces] = []
        for world, body in zip((self.here, self.there), bodies, strict=True):
            request = Request(f"{world.path}/{route}", key, body, "POST")
            tokens = [self._setup.people[seat].token] * 2 + [self._setup.stranger.token, None]
            with traces() as found:
                received.append([self._fetch(request, token) for token in tokens])
            recorded.append(found)
            assert [answer.status for answer in received[-1][:2]] == [status] * 2, received[-1][0]
        self._setup.refresh(self.here, self.there)
        first = 0 if seat in self.pair.viewers else 2
        one, other = (
            [masked(world, answer, world.masks()) for answer in answers[first:]]
            for world, answers in zip((self.here, self.there), received, strict=True)
        )
        assert one == other, f"the answers to {route} tell the worlds apart"
        assert recorded[0] == recorded[1], f"the log or the metrics tell the worlds apart after {route}"


def masked(world: World, answer: Answer, masks: Mapping[bytes, bytes]) -> Answer:
    """A decompressed answer in which everything that is unique to a match or a request is masked.

    Raises:
        AssertionError: the answer contains something that no viewer may know.
    """
    received, pieces = list(answer.headers), answer.pieces
    if ("Content-Encoding", "gzip") in received:
        (packed,) = pieces
        pieces = (gzip.decompress(packed),)
        assert packed == gzip.compress(pieces[0], compression._LEVEL, mtime=0), "its size follows from the body alone"
        received = [(name, value) for name, value in received if name != "Content-Length"]
    request = dict(received)["X-Request-Id"].encode()

    def without(text: bytes) -> bytes:
        return mask(text, masks).replace(request, b"-" * len(request))

    headers = tuple((name, without(value.encode()).decode()) for name, value in received)
    pieces = tuple(without(own_part(world, piece)) for piece in pieces)
    leaked = [secret for secret in world.hidden if secret in b"".join((*pieces, str(headers).encode()))]
    assert not leaked, f"the answer contains {leaked}: {pieces!r}"
    return Answer(answer.status, headers, pieces)


class _List(msgspec.Struct):
    matches: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET
    tasks: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


def own_part(world: World, piece: bytes) -> bytes:
    """Reduce a list of matches or tasks, or an export, to the entries of this world; return anything else unchanged."""
    if piece.startswith(b'{"type":"account"'):
        account, *matches, end = piece.splitlines()
        return b"\n".join([account, *(one for one in matches if world.id.encode() in one), end])
    start = piece.find(b"{")
    try:
        found = msgspec.json.decode(piece[start:].rstrip(), type=_List)
    except msgspec.DecodeError:
        return piece
    listed = found.matches if found.tasks is msgspec.UNSET else found.tasks
    if listed is msgspec.UNSET:
        return piece
    return piece[:start] + b"".join(bytes(one) for one in listed if world.id.encode() in bytes(one))


@contextmanager
def traces() -> Iterator[Traces]:
    """The log lines and metrics that this process records inside the block."""
    lines: list[str] = []

    class Recorder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(_TIMES.sub(r"\1=", Logfmt().format(record)))

    forget_requests()
    logger, recorder, before = logging.getLogger("moonstone"), Recorder(), _counts()
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(recorder)
    counts: dict[str, float] = {}
    try:
        yield Traces(lines, counts)
    finally:
        logger.removeHandler(recorder)
        logger.setLevel(level)
        counts |= {name: now - before.get(name, 0) for name, now in _counts().items() if now != before.get(name, 0)}


def _counts() -> Mapping[str, float]:
    """The value of every metric, except of those that measure durations."""
    return {
        f"{sample.name}{sample.labels}": sample.value
        for family in metrics._registry.collect()
        for sample in family.samples
        if not _DURATIONS.search(sample.name)
    }
