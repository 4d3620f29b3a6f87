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
from tests.api.counts import forget
from tests.api.stage import Stage, World, mask
from tests.api.worlds import Page, Pair, alike_moves
from tests.service.games.matches import spread, ways

_TIMES: Final = re.compile(r"\b(at|ms|request|pid)=\S+")
_SPANS: Final = re.compile(r"_(bucket|sum|created)\b|_seconds$")


class Ask(NamedTuple):
    """A request; of a stream so many pieces are read, 0 where the answer is whole."""

    path: str
    headers: Mapping[str, str] = {}
    body: object = None
    method: str = "GET"
    pieces: int = 0


class Said(NamedTuple):
    """An answer piece by piece, with what is made anew for every match or request masked."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[bytes, ...]


class Noticed(NamedTuple):
    """What a server noted of some requests: log lines without their times, and what its metrics grew by."""

    lines: list[str]
    counts: Mapping[str, float]


Row: TypeAlias = Callable[[World], Iterable[Ask]]


class Comparison:
    """Both worlds of a pair on a stage, and the viewers that cannot distinguish them."""

    def __init__(self, stage: Stage, pair: Pair, here: World, there: World, bot: Seat | None = None) -> None:
        self._stage, self.pair = stage, pair
        self.here, self.there = here, there
        people = {"creator": stage.creator.token, "passer-by": stage.passer_by.token}
        self.nobody: Mapping[str, str | None] = {"nobody": None} if None in pair.viewers else {}
        self.others: Mapping[str, str | None] = people if None in pair.viewers else {}
        self.seats: Mapping[str, str | None] = {
            f"seat {seat}": stage.people[seat].token for seat in sorted(self.unable - {bot})
        }

    @property
    def unable(self) -> set[Seat]:
        """The seats that cannot distinguish the worlds."""
        return {viewer for viewer in self.pair.viewers if viewer is not None}

    def compare(self, rows: Iterable[Row], callers: Mapping[str, str | None]) -> None:
        """Send the same requests about both worlds, and fail if a response, log line or metric differs."""
        rows = tuple(rows)
        told = []
        for world in (self.here, self.there):
            with noticed() as notes:
                heard = {who: self._listen(world, rows, token) for who, token in callers.items()}
            told.append((heard, notes))
            assert not [line for line in notes.lines for secret in world.hidden if secret.decode() in line]
        (here, noted), (there, noted_there) = told
        for who in callers:
            for (ask, one), (_, other) in zip(here[who], there[who], strict=True):
                assert one == other, f"{who} can tell the worlds apart: {ask}"
        assert noted == noted_there, "the log or the metrics tell the worlds apart"

    def _listen(self, world: World, rows: Iterable[Row], token: str | None) -> Sequence[tuple[Ask, Said]]:
        masks = world.masks()
        return [(ask, masked(world, self._fetch(ask, token), masks)) for row in rows for ask in row(world)]

    def _fetch(self, ask: Ask, token: str | None) -> Said:
        """A response as it was received."""
        # What is left of a limit depends on how often somebody asked, and is to be the same in both worlds.
        forget(self._stage.ports.limits)
        headers = dict(ask.headers) | ({"Authorization": f"Bearer {token}"} if token else {})
        data = None if ask.body is None else msgspec.json.encode(ask.body)
        if data is not None:
            headers["Content-Type"] = "application/json"
        client = self._stage.app.test_client()
        with closing(client.open(ask.path, method=ask.method, headers=headers, data=data)) as answer:
            pieces = tuple(islice(answer.iter_encoded(), ask.pieces)) if ask.pieces else (answer.get_data(),)
            return Said(answer.status_code, tuple(answer.headers), pieces)

    def go_on(self, *, by: Iterable[Seat]) -> Seat | None:
        """One of these seats moves in both worlds so that nobody who could not tell them apart can now; None if none can."""
        matches = self._stage.match(self.here), self._stage.match(self.there)
        for decision in matches[0].decisions():
            if decision.seat == CLOCK or decision.seat not in set(by):
                continue
            at = max(self._stage.time, decision.opens_at)
            for here, there in self._moves(*matches, decision.seat, at):
                pages = (self._page(matches[0], here), self._page(matches[1], there))
                if self._look_alike(*pages):
                    self._stage.time = at
                    self._act(decision.seat, here.action, there.action)
                    return decision.seat
        return None

    def _moves(self, here: Match, there: Match, seat: Seat, at: int) -> Iterator[tuple[Move[Any], Move[Any]]]:
        table, viewer = self.pair.table, seat if seat in self.pair.viewers else None
        legal = spread(tuple(table.game.legal_actions(here.state, seat)), 12)
        for action in (way for entry in legal for way in ways(entry)[:2]):
            move = Move(seat, action, at)
            alike = tuple(islice(alike_moves(table, move, viewer, there.state), 4))
            yield from ((move, other) for other in (*alike[1:], alike[0]))

    def _page(self, match: Match, move: Move[Any]) -> Page | None:
        rng, game = rulings.draws(match, lambda: submit.server_seed(self._stage.ports, match)), self.pair.table.game
        try:
            effects = game.decide(match.state, move, rng)
        except IllegalAction:
            return None
        return Page(move.at, move, effects, tuple(rng.drawn), fold(game, match.state, effects))

    def _look_alike(self, here: Page | None, there: Page | None) -> bool:
        """Whether two moves leave the viewers where they were, in a match that goes on."""
        table = self.pair.table
        if (
            here is None
            or there is None
            or not (table.game.decisions(here.state) and table.game.decisions(there.state))
        ):
            return False
        return all(here.look(table, viewer) == there.look(table, viewer) for viewer in self.pair.viewers)

    def _act(self, seat: Seat, here: Any, there: Any) -> None:
        """Post the actions, each twice; then others send the same with the same key."""
        bodies = [{"action": msgspec.to_builtins(action)} for action in (here, there)]
        self._post(seat, "actions", bodies, 201)

    def leave(self) -> None:
        """One of those who cannot know leaves."""
        for seat in sorted(self.unable)[:1]:
            self._post(seat, "leave", [{}, {}], 200)

    def _post(self, seat: Seat, what: str, bodies: Sequence[object], status: int) -> None:
        """A seat's command twice, and the same by others with the same key: each gets the same answer in both worlds.

        Of the seat's own answers this is so only if it cannot know.
        """
        key, told, noted = {"Idempotency-Key": f"{what}-{self.here.version}"}, [], []
        for world, body in zip((self.here, self.there), bodies, strict=True):
            ask = Ask(f"{world.path}/{what}", key, body, "POST")
            tokens = [self._stage.people[seat].token] * 2 + [self._stage.passer_by.token, None]
            with noticed() as notes:
                told.append([self._fetch(ask, token) for token in tokens])
            noted.append(notes)
            assert [said.status for said in told[-1][:2]] == [status] * 2, told[-1][0]
        self._stage.refresh(self.here, self.there)
        first = 0 if seat in self.pair.viewers else 2
        one, other = (
            [masked(world, said, world.masks()) for said in heard[first:]]
            for world, heard in zip((self.here, self.there), told, strict=True)
        )
        assert one == other, f"what is answered to {what} tells the worlds apart"
        assert noted[0] == noted[1], f"the log or the metrics tell the worlds apart by {what}"


def masked(world: World, said: Said, masks: Mapping[bytes, bytes]) -> Said:
    """An answer without what is made anew for every match or request, unpacked; it must not tell what is for nobody."""
    told, pieces = list(said.headers), said.pieces
    if ("Content-Encoding", "gzip") in told:
        (packed,) = pieces
        pieces = (gzip.decompress(packed),)
        assert packed == gzip.compress(pieces[0], compression._LEVEL, mtime=0), "its size follows from the body alone"
        told = [(name, value) for name, value in told if name != "Content-Length"]
    request = dict(told)["X-Request-Id"].encode()

    def without(text: bytes) -> bytes:
        return mask(text, masks).replace(request, b"-" * len(request))

    headers = tuple((name, without(value.encode()).decode()) for name, value in told)
    pieces = tuple(without(own_part(world, piece)) for piece in pieces)
    leaked = [secret for secret in world.hidden if secret in b"".join((*pieces, str(headers).encode()))]
    assert not leaked, f"it tells {leaked}: {pieces!r}"
    return Said(said.status, headers, pieces)


class _Listed(msgspec.Struct):
    matches: list[msgspec.Raw]


def own_part(world: World, piece: bytes) -> bytes:
    """Of a list of matches what it says of this world's; anything else as it is."""
    start = piece.find(b"{")
    try:
        listed = msgspec.json.decode(piece[start:].rstrip(), type=_Listed).matches
    except msgspec.DecodeError:
        return piece
    return piece[:start] + b"".join(bytes(one) for one in listed if world.id.encode() in bytes(one))


@contextmanager
def noticed() -> Iterator[Noticed]:
    """The log lines and metrics that this process records meanwhile."""
    lines: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(_TIMES.sub(r"\1=", Logfmt().format(record)))

    logger, keeper, before = logging.getLogger("moonstone"), Keeper(), _counts()
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(keeper)
    counts: dict[str, float] = {}
    try:
        yield Noticed(lines, counts)
    finally:
        logger.removeHandler(keeper)
        logger.setLevel(level)
        counts |= {name: now - before.get(name, 0) for name, now in _counts().items() if now != before.get(name, 0)}


def _counts() -> Mapping[str, float]:
    """All that the metrics count, but not how long anything took."""
    return {
        f"{sample.name}{sample.labels}": sample.value
        for family in metrics._registry.collect()
        for sample in family.samples
        if not _SPANS.search(sample.name)
    }
