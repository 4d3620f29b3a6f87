"""Matches put by at some of their versions, so that a reader begins there and not at the first event.

A snapshot is a cache, never a record: it holds what the fold of the events up to its version gives, and is none unless
its seal is right. The seal is keyed with the store's secret and with the code and data that fold, so that nothing is
read that another release, another store or another hand left. It tells all that is hidden in a match, and so it lies
only where the events lie.
"""

import hashlib
import hmac
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Union

import msgspec

import events
import service
from events.log import Log, LogUnavailable, Tail
from events.record import MatchId, Version, digest
from service.errors import Corrupt
from service.games.protocol import AnyGame, Decision
from service.match import fold
from service.match.model import Match
from service.observability import metrics

EVERY: Final = 32
"""Events from one snapshot to the next. To read one costs as much as to fold one or two; it is as large as two to eight."""
SHORT: Final = 8
"""A match that ended within so many events folds as fast."""
MAX_BYTES: Final = 64 * 1024
_SUFFIXES: Final = frozenset({".py", ".json"})

_PARTS: Final = tuple(part for part in msgspec.structs.fields(Match) if part.name != "game")
_encode = msgspec.msgpack.Encoder().encode
_opened = msgspec.msgpack.Decoder(tuple[str, bytes, bytes]).decode
"""The game's id, the seal, and the parts of the match in order."""


class _Form(msgspec.Struct, frozen=True):
    """How matches of one game are read, and what seals them."""

    game: AnyGame
    key: bytes
    parts: Callable[[bytes], tuple[Any, ...]]


class Folds:
    """The matches of a log, folded from a snapshot on or from the first event."""

    def __init__(self, log: Log, games: Mapping[str, AnyGame], secret: bytes) -> None:
        self._log = log
        self._games = games
        self._forms = {name: _form(secret, game) for name, game in games.items()}

    def snapshot(self, match: Match, after: Version) -> bytes | None:
        """A snapshot of a match, if one is worth its room where the match had the version `after` before."""
        version = match.head.version
        passed = version // EVERY > after // EVERY
        if not passed and not (match.is_over and version > SHORT):
            return None
        name = match.game.info.id
        parts = _encode([getattr(match, part.name) for part in _PARTS])
        snapshot = _encode((name, hmac.digest(self._forms[name].key, parts, "sha256"), parts))
        return snapshot if len(snapshot) <= MAX_BYTES else None

    def recall(self, match_id: MatchId, tail: Tail, last: Version | None = None) -> Match | None:
        """The match after a tail that was read from a snapshot on, None if there are no events; new snapshots are put by."""
        match = None if tail.snapshot is None else self._read(match_id, tail.snapshot)
        if match is not None and begins_at(tail, match):
            rest = tail.events[1:]
        else:
            match = None
            rest = tail.events if tail.snapshot is None else self._log.read(match_id, last=last).events
        start: Version = match.head.version if match else 0
        found = {}
        while rest:
            before = match.head.version if match else 0
            steps = EVERY - before % EVERY
            match, rest = self.fold(match_id, rest[:steps], match), rest[steps:]
            if snapshot := self.snapshot(match, before):
                found[match.head.version] = snapshot
        if found:
            with suppress(LogUnavailable):
                self._log.remember(match_id, start, found)
        return match

    def fold(self, match_id: MatchId, events: Sequence[bytes], known: Match | None) -> Match:
        """What is known of a match, if anything, and some more of its stored events.

        Raises:
            Corrupt: they do not follow.
            Refused: `engine-too-old`.
        """
        try:
            if known is None:
                known, events = fold.begin(match_id, events[0], self._games), events[1:]
            return fold.fold(known, events)
        except Corrupt:
            metrics.CHAIN_BREAKS.inc()
            raise

    def _read(self, match_id: MatchId, snapshot: bytes) -> Match | None:
        """The match that was put by; None if this is no snapshot of it that was made here."""
        try:
            name, seal, parts = _opened(snapshot)
            form = self._forms[name]
            if not hmac.compare_digest(seal, hmac.digest(form.key, parts, "sha256")):
                return None
            values = form.parts(parts)
        except (msgspec.MsgspecError, RecursionError, KeyError):
            return None
        named = dict(zip((part.name for part in _PARTS), values, strict=True))
        return Match(game=form.game, **named) if named["id"] == match_id else None


def begins_at(tail: Tail, match: Match) -> bool:
    """Whether a tail's first event is the one that a match is at: the same bytes, for they have the same hash."""
    return bool(tail.events) and digest(tail.events[0]) == match.head.hash


def _form(secret: bytes, game: AnyGame) -> _Form:
    action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)
    own: Mapping[str, Any] = {
        "options": game.info.options,
        "state": game.state | None,
        "asked": tuple[Decision[action], ...],
    }
    kinds: Any = tuple(own.get(part.name, part.type) for part in _PARTS)
    key = hmac.digest(secret, b"snapshot\0" + fingerprint(game), "sha256")
    return _Form(game, key, msgspec.msgpack.Decoder(tuple[kinds]).decode)


def fingerprint(game: AnyGame) -> bytes:
    """Of the code and the data that make a match of a game out of its events."""
    told = hashlib.sha256(f"{sys.version} {msgspec.__version__} {game.info.id} {game.info.ruleset}".encode())
    for module in (events, service, sys.modules[game.state.__module__]):
        told.update(_files(_folder(module)))
    return told.digest()


def _folder(module: ModuleType) -> Path:
    return Path(str(module.__file__)).parent


@cache
def _files(folder: Path) -> bytes:
    told = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SUFFIXES:
            told.update(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return told.digest()


# Now, while the code is loaded: once there is another release in the same place, a server that still runs the old one
# forks workers of the old one.
for _module in (events, service):
    _files(_folder(_module))
