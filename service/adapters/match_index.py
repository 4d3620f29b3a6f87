"""The match index in sorted sets on the log's server.

There is a set for each status list, for the open matches of each creator, for the lists of each player and its seats in
open matches, and for ended matches. Members are stored forms of `IndexEntry` with score 0, so they sort as text. A
match is added to its new list before it is removed from the old one: a crash in between leaves one entry too many,
which readers remove. In the set of ended matches the score is a number that grows with each end. In the set of a
player's concluded matches it is the time of the conclusion, in that of its seats the time when the seat was to be
taken.

An open match is also in a set for each of its facets and for each pair of them, so that a page of a search by two
facets is one range of one set, however many matches there are.
"""

from collections.abc import Iterator, Sequence
from typing import Final, get_args

from redis import Redis, RedisCluster

from events.record import MatchId
from events.redis_log import WAKE_CHANNEL, send
from events.redis_pool import Command
from service.adapters.clock import wall_clock
from service.repository.index_entry import IndexEntry
from service.repository.ports import ENDING_MS, NO_FACETS, Facets, OwnList, StatusList, lookups, news_of

_STATUS_LISTS: Final[tuple[StatusList, ...]] = get_args(StatusList)
_ENDED: Final = "index:ended"
_PUBLISHED: Final = "index:published"
_END: Final = """
local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
if known and ARGV[2] - known <= tonumber(ARGV[3]) then
  return 0
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2] or 0
return redis.call('ZADD', KEYS[1], string.format('%d', math.max(ARGV[2], last + 1)), ARGV[1])
"""
"""KEYS the set; ARGV an entry, the time of the end, and for how many milliseconds a repeated call keeps its number."""

_ADMIT: Final = """
local waiting = redis.call('ZRANGE', KEYS[1], 0, -1)
local id = string.match(ARGV[1], ':.*')
for _, entry in ipairs(waiting) do
  if string.match(entry, ':.*') == id then
    return 1
  end
end
return #waiting < tonumber(ARGV[2]) and redis.call('ZADD', KEYS[1], 0, ARGV[1]) or 0
"""
"""KEYS the set; ARGV an entry, and the limit of entries. A match that is already in the set is admitted again."""


_HOLD: Final = """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 1
end
return redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[3]) and redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1]) or 0
"""
"""KEYS the set; ARGV an entry, the time, and the limit of entries."""
_SCAN: Final = 1_000
"""How many keys the server looks at in one call of a scan."""


def _status_list_key(status_list: StatusList) -> str:
    return f"index:{status_list}"


def _creator_key(creator: str) -> str:
    return f"index:open:{creator}"


def _seats_key(player: str) -> str:
    return f"index:seats:{player}"


def _player_key(player: str, own_list: OwnList) -> str:
    return f"index:of:{player}:{own_list}"


def _concluded_key(player: str) -> str:
    return f"index:of:{player}:concluded"


def _lookup_key(lookup: Facets) -> str:
    return f"index:find:{'&'.join(sorted(lookup))}"


def _stored(match_id: MatchId, created_at: int) -> str:
    return IndexEntry(created_at, match_id).stored


def _parsed(entries: Sequence[bytes]) -> tuple[IndexEntry, ...]:
    return tuple([IndexEntry.parse(entry.decode()) for entry in entries])


class RedisIndex:
    """`MatchIndex` with commands on a single key each, all safe to repeat; three of them are scripts."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def admit(self, match_id: MatchId, created_at: int, creator: str, limit: int) -> bool:
        counted: int
        (counted,) = send(
            self._client, ("EVAL", _ADMIT, 1, _creator_key(creator), _stored(match_id, created_at), limit)
        )
        return counted == 1

    def add(self, match_id: MatchId, created_at: int, creator: str, *, private: bool) -> None:
        self.enrol(creator, match_id, created_at)
        self.move(match_id, created_at, creator, "open", private=private)

    def release(self, creator: str, match_id: MatchId, created_at: int) -> None:
        send(self._client, ("ZREM", _creator_key(creator), _stored(match_id, created_at)))

    def enrol(self, player: str, match_id: MatchId, created_at: int) -> None:
        entry = _stored(match_id, created_at)
        own_lists: tuple[OwnList, ...] = ("all", "active")
        added: list[Command] = [("ZADD", _player_key(player, own_list), 0, entry) for own_list in own_lists]
        send(self._client, *added, ("PUBLISH", WAKE_CHANNEL + news_of(player), wall_clock()))

    def publish(self, players: Sequence[str], match_id: MatchId, created_at: int) -> None:
        entry = _stored(match_id, created_at)
        if players:
            send(self._client, *(("ZADD", _player_key(player, "public"), 0, entry) for player in players))

    def dismiss(self, player: str, match_id: MatchId, created_at: int) -> None:
        entry = _stored(match_id, created_at)
        own_lists: tuple[OwnList, ...] = ("all", "active", "public")
        keys = (*(_player_key(player, own_list) for own_list in own_lists), _concluded_key(player))
        send(self._client, *(("ZREM", key, entry) for key in keys))

    def add_left(self, player: str, match_id: MatchId, created_at: int) -> None:
        send(self._client, ("ZADD", _player_key(player, "left"), 0, _stored(match_id, created_at)))

    def conclude(self, player: str, match_id: MatchId, created_at: int, at: int) -> None:
        entry = _stored(match_id, created_at)
        recorded: Command = ("ZADD", _concluded_key(player), "NX", at, entry)
        send(self._client, recorded, ("ZREM", _player_key(player, "active"), entry))

    def concluded(self, player: str, since: int, skip: int, limit: int) -> tuple[IndexEntry, ...]:
        entries: list[bytes]
        (entries,) = send(self._client, ("ZRANGEBYSCORE", _concluded_key(player), since, "+inf", "LIMIT", skip, limit))
        return _parsed(entries)

    def move(
        self, match_id: MatchId, created_at: int, creator: str, status_list: StatusList | None, *, private: bool
    ) -> None:
        entry = _stored(match_id, created_at)
        commands: list[Command] = []
        if status_list is not None and not private:
            commands.append(("ZADD", _status_list_key(status_list), 0, entry))
        commands.append(
            ("ZADD", _creator_key(creator), 0, entry)
            if status_list == "open"
            else ("ZREM", _creator_key(creator), entry)
        )
        commands += [("ZREM", _status_list_key(other), entry) for other in _STATUS_LISTS if other != status_list]
        send(self._client, *commands)

    def end(self, match_id: MatchId, created_at: int, ended_at: int) -> None:
        entry = _stored(match_id, created_at)
        send(self._client, ("EVAL", _END, 1, _ENDED, entry, ended_at, ENDING_MS))

    def withdraw(self, match_id: MatchId, created_at: int) -> None:
        send(self._client, ("ZREM", _ENDED, _stored(match_id, created_at)))

    def ended(self, after: int, limit: int) -> tuple[tuple[int, IndexEntry], ...]:
        found: list[bytes]
        (found,) = send(self._client, ("ZRANGEBYSCORE", _ENDED, f"({after}", "+inf", "WITHSCORES", "LIMIT", 0, limit))
        return tuple(zip(map(int, found[1::2]), _parsed(found[::2]), strict=True))

    def page(self, status_list: StatusList, before: IndexEntry | None, limit: int) -> tuple[IndexEntry, ...]:
        return self._page(_status_list_key(status_list), before, limit)

    def matches_of(
        self, player: str, own_list: OwnList, before: IndexEntry | None, limit: int
    ) -> tuple[IndexEntry, ...]:
        return self._page(_player_key(player, own_list), before, limit)

    def _page(self, key: str, before: IndexEntry | None, limit: int) -> tuple[IndexEntry, ...]:
        newest = "+" if before is None else f"({before.stored}"
        entries: list[bytes]
        (entries,) = send(self._client, ("ZREVRANGEBYLEX", key, newest, "-", "LIMIT", 0, limit))
        return _parsed(entries)

    def open_entries(self, creator: str) -> tuple[IndexEntry, ...]:
        entries: list[bytes]
        (entries,) = send(self._client, ("ZRANGE", _creator_key(creator), 0, -1))
        return _parsed(entries)

    def hold_seat(self, player: str, match_id: MatchId, created_at: int, at: int, limit: int) -> bool:
        held: int
        (held,) = send(self._client, ("EVAL", _HOLD, 1, _seats_key(player), _stored(match_id, created_at), at, limit))
        return held == 1

    def release_seat(self, player: str, match_id: MatchId, created_at: int) -> None:
        send(self._client, ("ZREM", _seats_key(player), _stored(match_id, created_at)))

    def held_seats(self, player: str) -> tuple[tuple[int, IndexEntry], ...]:
        found: list[bytes]
        (found,) = send(self._client, ("ZRANGE", _seats_key(player), 0, -1, "WITHSCORES"))
        return tuple(zip(map(int, found[1::2]), _parsed(found[::2]), strict=True))

    def all_open(self) -> Iterator[IndexEntry]:
        prefix = _creator_key("")
        for key in self._client.scan_iter(match=f"{prefix}*", count=_SCAN):
            yield from self.open_entries(key.decode().removeprefix(prefix))

    def file(self, match_id: MatchId, created_at: int, facets: Facets, known: Facets = NO_FACETS) -> None:
        entry = _stored(match_id, created_at)
        added = lookups(facets) - lookups(known)
        if added:
            send(self._client, *(("ZADD", _lookup_key(lookup), 0, entry) for lookup in added))

    def unfile(self, match_id: MatchId, created_at: int, facets: Facets, kept: Facets = NO_FACETS) -> None:
        entry = _stored(match_id, created_at)
        removed = lookups(facets) - lookups(kept)
        if removed:
            send(self._client, *(("ZREM", _lookup_key(lookup), entry) for lookup in removed))

    def find(self, lookup: Facets, before: IndexEntry | None, limit: int) -> tuple[IndexEntry, ...]:
        return self._page(_lookup_key(lookup), before, limit)

    def counts(self, found: Sequence[Facets]) -> tuple[int, ...]:
        return tuple(send(self._client, *(("ZCARD", _lookup_key(lookup)) for lookup in found)))

    def is_published(self) -> bool:
        (found,) = send(self._client, ("EXISTS", _PUBLISHED))
        return bool(found)

    def set_published(self) -> None:
        send(self._client, ("SET", _PUBLISHED, 1))
