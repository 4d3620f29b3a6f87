"""Reproducible chance: every draw is a function of the revealed server seed, the clients' seeds and a label.

A match's key is HMAC-SHA256(server_seed, canonical JSON of the list of client seeds). The n-th draw with a label uses
the words of HMAC-SHA256(key, label ‖ 0x00 ‖ u32be(n) ‖ u32be(i)) for i = 0, 1, …; each block has four big-endian
64-bit words.
"""

import hashlib
import hmac
import secrets
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

import msgspec

from events.record import canonical
from service.games.visibility import Seat

T = TypeVar("T")

Chance: TypeAlias = Callable[[], bytes]
"""Returns a match's server seed."""

_WORDS = struct.Struct(">4Q")
_LIMIT = 1 << 64


class Draw(msgspec.Struct, frozen=True, gc=False):
    """A recorded draw. The outcome of a shuffle is the whole list, that of a pick is the item."""

    label: str
    outcome: object


def new_seed() -> bytes:
    """256 bits from the operating system."""
    return secrets.token_bytes(32)


def new_salts(count: int) -> list[str]:
    """A salt of 128 random bits for each event, in hex."""
    return [secrets.token_hex(16) for _ in range(count)]


def commitment(server_seed: bytes) -> str:
    """The SHA-256 of a seed in hex, which is public from the first event on."""
    return hashlib.sha256(server_seed).hexdigest()


def match_key(server_seed: bytes, client_seeds: Sequence[str | None]) -> bytes:
    """The key of all draws of a match, 32 bytes. `client_seeds` has one entry for each seat."""
    return hmac.digest(server_seed, canonical(list(client_seeds)), "sha256")


def bot_key(server_seed: bytes, seat: Seat) -> bytes:
    """The key of a bot's own random choices in a local match."""
    return hmac.digest(server_seed, b"bot:%d" % seat, "sha256")


class Draws:
    """The `Rng` of the rules: draws by label, and records what it drew in `drawn`.

    `counts` is the number of earlier draws of the match by label. `key_of` is called at the first draw, since most
    actions draw nothing.
    """

    __slots__ = ("_counts", "_key", "_key_of", "drawn")

    def __init__(self, key_of: Callable[[], bytes], counts: Mapping[str, int]) -> None:
        self._key_of = key_of
        self._key: bytes | None = None
        self._counts = dict(counts)
        self.drawn: list[Draw] = []

    def _words(self, label: str) -> Iterator[int]:
        nth = self._counts.get(label, 0)
        self._counts[label] = nth + 1
        if self._key is None:
            self._key = self._key_of()
        prefix = label.encode() + b"\0" + nth.to_bytes(4, "big")
        block = 0
        while True:
            yield from _WORDS.unpack(hmac.digest(self._key, prefix + block.to_bytes(4, "big"), "sha256"))
            block += 1

    def shuffle(self, label: str, items: Sequence[T]) -> tuple[T, ...]:
        words = self._words(label)
        shuffled = list(items)
        for last in range(len(shuffled) - 1, 0, -1):
            other = _below(words, last + 1)
            shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
        outcome = tuple(shuffled)
        self.drawn.append(Draw(label, outcome))
        return outcome

    def pick(self, label: str, items: Sequence[T]) -> T:
        outcome = items[_below(self._words(label), len(items))]
        self.drawn.append(Draw(label, outcome))
        return outcome


def _below(words: Iterator[int], bound: int) -> int:
    """A number below `bound`: the next word modulo `bound`. Words that would favour small results are skipped."""
    fair = _LIMIT - _LIMIT % bound
    word = next(words)
    while word >= fair:
        word = next(words)
    return word % bound
