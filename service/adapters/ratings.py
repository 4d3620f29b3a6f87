"""The leaderboards on the log's server. All keys of a game share a hash tag, so that scripts can change them together on a cluster.

Keys of a game, all derived from its rating stream:
  position   string; `<version> <hash>` of the last entry that was folded
  standings  hash; player -> standing
  met        hash; pair -> number of counted matches
  past       sorted set of `<player>:<version>:<match as JSON>`, all with score 0, so that they sort as text
  all, human, hosted    sorted sets of the leaderboards: `<order>:<player>`, all with score 0

Pairs do not expire: a match may be rated long after its end, for example by the workers of a restored store, and then needs the
numbers of the day on which it ended. A pair takes about 90 bytes; the rows of `past` of one match of two players take 600.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, get_args

import msgspec
from redis import Redis, RedisCluster

from events.record import Head, Version
from events.redis_log import send
from events.redis_replies import field_dict
from service.adapters.rating_cache import CHANNEL, Changed, RatingCache, encode
from service.repository.ratings import (
    Board,
    Folded,
    Known,
    Leader,
    Leaders,
    Pair,
    PastMatch,
    Standing,
    Standings,
)

BOARDS: Final[tuple[Board, ...]] = get_args(Board)
LOWEST: Final = 10**12
"""Added to the order of a rating, so that it is not negative and has a fixed number of digits."""
_ADOPTED: Final = "index:rated"
_SCAN: Final = 1_000

_KNOWN: Final = """
local players, pairs = {}, {}
local count = tonumber(ARGV[1])
for i = 2, #ARGV do
  if i - 1 <= count then
    players[i - 1] = redis.call('HGET', KEYS[2], ARGV[i])
  else
    pairs[i - 1 - count] = redis.call('HGET', KEYS[3], ARGV[i])
  end
end
return { redis.call('GET', KEYS[1]), players, pairs }
"""
"""KEYS position, standings, met; ARGV the number of players, the players, the pairs."""
_FOLD: Final = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('PUBLISH', ARGV[3], ARGV[4])
local at = 5
local function rows(size)
  local first, count = at + 1, tonumber(ARGV[at])
  at = first + count * size
  local i = 0
  return function()
    i = i + 1
    if i <= count then
      return first + (i - 1) * size
    end
  end
end
for i in rows(2) do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
for i in rows(2) do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
end
for i in rows(1) do
  redis.call('ZADD', KEYS[4], 0, ARGV[i])
end
for i in rows(2) do
  redis.call('ZREM', KEYS[tonumber(ARGV[i])], ARGV[i + 1])
end
for i in rows(2) do
  redis.call('ZADD', KEYS[tonumber(ARGV[i])], 0, ARGV[i + 1])
end
return 1
"""
"""KEYS position, standings, met, past, then the leaderboards; ARGV the position before and after, the channel and the announcement,
then rows of five kinds, each kind after the number of its rows: player and standing; pair and number; past match; the number of a
leaderboard's key and the member to remove from it; the same for a member to add."""
_LEADERS: Final = """
local page = redis.call('ZREVRANGEBYLEX', KEYS[1], ARGV[1], '-', 'LIMIT', 0, ARGV[2])
if #page == 0 then
  return { 0, 0, page, {} }
end
local players = {}
for i, place in ipairs(page) do
  players[i] = string.match(place, ':(.*)')
end
local order = string.match(page[1], '^%d+')
local ahead = redis.call('ZLEXCOUNT', KEYS[1], '(' .. page[1], '+')
local better = redis.call('ZLEXCOUNT', KEYS[1], '(' .. order .. ';', '+')
return { ahead, better, page, redis.call('HMGET', KEYS[2], unpack(players)) }
"""
"""KEYS a leaderboard, standings; ARGV the upper end of the page, and its length. `;` comes after `:`, so that equal ratings do not
count as better ones."""

_standing = msgspec.json.Decoder(Standing).decode
_past = msgspec.json.Decoder(PastMatch).decode


class RedisRatings:
    """`Ratings`; raises LogUnavailable if the server does not answer."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client
        self.cache = RatingCache()

    def known(self, game: str, players: Sequence[str], pairs: Sequence[Pair]) -> Known:
        keys = [_key(game, name) for name in ("position", "standings", "met")]
        reply: tuple[bytes | None, list[bytes | None], list[bytes | None]]
        (reply,) = send(self._client, ("EVAL", _KNOWN, len(keys), *keys, len(players), *players, *pairs))
        position, standings, met = reply
        return Known(
            None if position is None else _head(position),
            {player: _standing(one) for player, one in zip(players, standings, strict=False) if one is not None},
            {pair: int(number) for pair, number in zip(pairs, met, strict=False) if number is not None},
        )

    def fold(self, game: str, folded: Folded) -> bool:
        keys = [_key(game, name) for name in ("position", "standings", "met", "past", *BOARDS)]
        before, changed = folded.before, folded.standings
        removed = [row for player, one in before.standings.items() if player in changed for row in _places(player, one)]
        added = [row for player, one in changed.items() for row in _places(player, one)]
        kinds: Sequence[Sequence[Sequence[Any]]] = (
            [(player, encode(one)) for player, one in changed.items()],
            list(folded.met.items()),
            [(f"{player}:{_digits(past.version)}:".encode() + encode(past),) for player, past in folded.past.items()],
            removed,
            added,
        )
        rows = [part for rows in kinds for part in (len(rows), *(value for row in rows for value in row))]
        position = "" if before.head is None else _position(before.head)
        announcement = encode(Changed(game, tuple(changed)))
        arguments = (position, _position(folded.head), CHANNEL, announcement, *rows)
        (done,) = send(self._client, ("EVAL", _FOLD, len(keys), *keys, *arguments))
        self.cache.receive(announcement)
        return bool(done)

    def clear(self, game: str) -> None:
        announcement = encode(Changed(game))
        keys = (_key(game, name) for name in ("position", "standings", "met", "past", *BOARDS))
        send(self._client, ("UNLINK", *keys), ("PUBLISH", CHANNEL, announcement))
        self.cache.receive(announcement)

    def standings(self, game: str, players: Sequence[str]) -> Standings:
        seen_changes = self.cache.standings.changes
        keys = [(game, player) for player in players]
        found = self.cache.standings.find(keys)
        missing = [key for key in keys if key not in found]
        if missing:
            stored: list[bytes | None]
            (stored,) = send(self._client, ("HMGET", _key(game, "standings"), *(player for _, player in missing)))
            read = {key: None if one is None else _standing(one) for key, one in zip(missing, stored, strict=True)}
            self.cache.standings.keep(read, seen_changes)
            found |= read
        return {player: standing for (_, player), standing in found.items() if standing is not None}

    def rank(self, game: str, standing: Standing) -> int:
        better: int
        (better,) = send(self._client, ("ZLEXCOUNT", _key(game, "all"), f"({_order(standing)};", "+"))
        return better + 1

    def leaders(self, game: str, board: Board, after: str | None, limit: int) -> Leaders:
        end = "+" if after is None else f"({after}"
        reply: tuple[int, int, list[bytes], list[bytes | None]]
        keys = (_key(game, board), _key(game, "standings"))
        (reply,) = send(self._client, ("EVAL", _LEADERS, 2, *keys, end, limit))
        ahead, better, page, standings = reply
        leaders = tuple(
            Leader(place.decode().partition(":")[2], _standing(one))
            for place, one in zip(page, standings, strict=True)
            if one is not None
        )
        return Leaders(ahead, better, leaders, page[-1].decode() if len(page) == limit else None)

    def past(self, game: str, player: str, before: Version | None, limit: int) -> Sequence[PastMatch]:
        end = f"[{player};" if before is None else f"({player}:{_digits(before)}"
        found: list[bytes]
        command = ("ZREVRANGEBYLEX", _key(game, "past"), end, f"[{player}:", "LIMIT", 0, limit)
        (found,) = send(self._client, command)
        return [_past(row.split(b":", 2)[2]) for row in found]

    def everyone(self, game: str) -> Iterator[tuple[str, Standing]]:
        for player, stored in self._fields(game, "standings"):
            yield player, _standing(stored)

    def pairs(self, game: str) -> Iterator[tuple[Pair, int]]:
        for pair, number in self._fields(game, "met"):
            yield pair, int(number)

    def _fields(self, game: str, name: str) -> Iterator[tuple[str, bytes]]:
        """The fields of a hash; some may come twice."""
        cursor = b"0"
        while True:
            page: list[bytes] | dict[bytes, bytes]
            ((cursor, page),) = send(self._client, ("HSCAN", _key(game, name), cursor, "COUNT", _SCAN))
            for field, value in field_dict(page).items():
                yield field.decode(), value
            if int(cursor) == 0:
                return

    def adopted(self) -> int:
        stored: bytes | None
        (stored,) = send(self._client, ("GET", _ADOPTED))
        return int(stored or 0)

    def set_adopted(self, number: int) -> None:
        send(self._client, ("SET", _ADOPTED, number))


def _key(game: str, name: str) -> str:
    return f"index:{{ratings:{game}}}:{name}"


def _position(head: Head) -> str:
    return f"{head.version} {head.hash}"


def _head(position: bytes) -> Head:
    version, _, hash_ = position.decode().partition(" ")
    return Head(int(version), hash_)


def _digits(version: Version) -> str:
    return f"{version:012d}"


def _order(standing: Standing) -> str:
    return f"{LOWEST + standing.rating.order:013d}"


def _places(player: str, standing: Standing) -> list[tuple[int, str]]:
    """The player's places on the leaderboards: the number of the leaderboard's key in `_FOLD`, and the member."""
    if not standing.is_placed:
        return []
    first = 5  # the keys of the leaderboards come after four others
    return [
        (first + number, f"{_order(standing)}:{player}")
        for number, board in enumerate(BOARDS)
        if board in {"all", standing.kind}
    ]
