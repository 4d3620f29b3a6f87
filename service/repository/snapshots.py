"""Snapshots of matches, so that a read need not fold a match from its first event.

A snapshot is only a cache of the fold of all events up to its version. It is ignored if its seal (an HMAC) is wrong. The
key of the seal depends on the store's secret and on the code and data that fold, so a process does not use snapshots of
another release or another store, or forged ones. A snapshot contains all that is hidden in a match, so it is stored only
beside the events.
"""

import hashlib
import hmac
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Union

import msgspec

from events.log import Log, LogUnavailable, Tail
from events.record import MatchId, Version
from service.errors import Corrupt
from service.games.protocol import AnyGame, Decision
from service.match import fold
from service.match.model import Match
from service.match.transitions import transitions
from service.observability import metrics
from service.repository.code_hash import FOLDING, GAMES, code_hash

SNAPSHOT_INTERVAL: Final = 32
"""Events between two snapshots. To read a snapshot takes as long as to fold 1 or 2 events; it is as large as 2 to 8 events."""
MAX_LENGTH_WITHOUT_SNAPSHOT: Final = 8
"""A match that ended within this many events gets no snapshot: to fold it is as fast as to read a snapshot."""
MAX_BYTES: Final = 64 * 1024

_PARTS: Final = tuple(part for part in msgspec.structs.fields(Match) if part.name != "game")
_encode = msgspec.msgpack.Encoder().encode
_opened = msgspec.msgpack.Decoder(tuple[str, bytes, bytes]).decode
"""The game's id, the seal, and the encoded fields of the match in order."""


class _Form(msgspec.Struct, frozen=True):
    """The snapshot format of one game: the key of its seals, and the decoder of the match's fields."""

    game: AnyGame
    key: bytes
    parts: Callable[[bytes], tuple[Any, ...]]


class MatchLoader:
    """Folds matches of a log, from a snapshot or from the first event, and stores new snapshots."""

    def __init__(self, log: Log, games: Mapping[str, AnyGame], secret: bytes) -> None:
        self._log = log
        self._games = games
        self._forms = {name: _form(secret, game) for name, game in games.items()}
        for game in games.values():
            # Make the game's decoders before there are threads. msgspec makes a type in several steps, and a thread that decodes
            # it meanwhile crashes the process.
            transitions(game)

    def snapshot(self, match: Match, after: Version) -> bytes | None:
        """A snapshot of a match that was at the version `after` before; None if no snapshot is due, or it is too large."""
        version = match.head.version
        passed = version // SNAPSHOT_INTERVAL > after // SNAPSHOT_INTERVAL
        if not passed and not (match.is_over and version > MAX_LENGTH_WITHOUT_SNAPSHOT):
            return None
        name = match.game.info.id
        parts = _encode([getattr(match, part.name) for part in _PARTS])
        snapshot = _encode((name, hmac.digest(self._forms[name].key, parts, "sha256"), parts))
        return snapshot if len(snapshot) <= MAX_BYTES else None

    def load(self, match_id: MatchId, tail: Tail, last: Version | None = None) -> Match | None:
        """The match after a tail that begins at a snapshot; None if there are no events. Stores new snapshots."""
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
            steps = SNAPSHOT_INTERVAL - before % SNAPSHOT_INTERVAL
            match, rest = self._fold(match_id, rest[:steps], match), rest[steps:]
            if snapshot := self.snapshot(match, before):
                found[match.head.version] = snapshot
        if found:
            with suppress(LogUnavailable):
                self._log.save_snapshots(match_id, start, found)
        return match

    def fold(self, match: Match, events: Sequence[bytes]) -> fold.Folded:
        """A match after some more of its stored events, and these events, decoded.

        Raises:
            Corrupt: the events do not follow from the match.
            Refused: `engine-too-old`.
        """
        try:
            return fold.fold_verified(match, events)
        except Corrupt:
            metrics.CHAIN_BREAKS.inc()
            raise

    def _fold(self, match_id: MatchId, events: Sequence[bytes], known: Match | None) -> Match:
        """As `fold`, without the events; `known` is None before the first event."""
        try:
            if known is None:
                known, events = fold.begin(match_id, events[0], self._games), events[1:]
            return fold.fold(known, events)
        except Corrupt:
            metrics.CHAIN_BREAKS.inc()
            raise

    def _read(self, match_id: MatchId, snapshot: bytes) -> Match | None:
        """The match in a snapshot; None if the snapshot is damaged, or of another match, release or store."""
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
    """Whether the first event of a tail is the newest event of a match, compared by hash."""
    return bool(tail.events) and tail.first_hash == match.head.hash


def _form(secret: bytes, game: AnyGame) -> _Form:
    action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)
    own: Mapping[str, Any] = {
        "options": game.info.options,
        "state": game.state | None,
        "open_decisions": tuple[Decision[action], ...],
    }
    kinds: Any = tuple(own.get(part.name, part.type) for part in _PARTS)
    key = hmac.digest(secret, b"snapshot\0" + fingerprint(game), "sha256")
    return _Form(game, key, msgspec.msgpack.Decoder(tuple[kinds]).decode)


def fingerprint(game: AnyGame) -> bytes:
    """A hash of the code and data that fold the events of a game's matches."""
    hashed = hashlib.sha256(f"{sys.version} {msgspec.__version__} {game.info.id} {game.info.ruleset}".encode())
    own = Path(str(sys.modules[game.state.__module__].__file__)).parent
    for folder in FOLDING if own.is_relative_to(GAMES) else (*FOLDING, own):
        hashed.update(code_hash(folder))
    return hashed.digest()
