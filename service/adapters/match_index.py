"""Which matches there are, in sorted sets of the log's server: for each status_list, each creator's open ones, each player's.

Members are places, `<created_at, 13 digits>:<match id>`, all with score 0, so that they sort as text. A match is put on
its new status_list before it leaves the old one: a crash in between leaves a place too much, which the reader mends. In the set
of those that ended each place has a number as its score, which rises in the order in which they came; among a player's
concluded ones the time at which it left the active ones.
"""

from typing import Final, get_args

from redis import Redis, RedisCluster

from events.record import MatchId
from events.redis_log import WAKE_CHANNEL, send
from events.redis_pool import Command
from service.adapters.clock import wall_clock
from service.repository.ports import ENDING_MS, OwnList, StatusList, news_of

_STATUS_LISTS: Final[tuple[StatusList, ...]] = get_args(StatusList)
_ENDED: Final = "index:ended"
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
for _, place in ipairs(waiting) do
  if string.match(place, ':.*') == id then
    return 1
  end
end
return #waiting < tonumber(ARGV[2]) and redis.call('ZADD', KEYS[1], 0, ARGV[1]) or 0
"""
"""KEYS the set; ARGV an entry, and the limit of entries. A match that is already in the set is admitted again."""


def _status_list_key(status_list: StatusList) -> str:
    return f"index:{status_list}"


def _creator_key(creator: str) -> str:
    return f"index:open:{creator}"


def _player_key(player: str, own_list: OwnList) -> str:
    return f"index:of:{player}:{own_list}"


def _concluded_key(player: str) -> str:
    return f"index:of:{player}:concluded"


class RedisIndex:
    """`MatchIndex` with commands on a single key each, all safe to repeat; two of them are scripts."""

    def __init__(self, client: Redis | RedisCluster) -> None:
        self._client = client

    def admit(self, match_id: MatchId, created_at: int, creator: str, limit: int) -> bool:
        counted: int
        (counted,) = send(
            self._client, ("EVAL", _ADMIT, 1, _creator_key(creator), f"{created_at:013d}:{match_id}", limit)
        )
        return counted == 1

    def add(self, match_id: MatchId, created_at: int, creator: str, *, private: bool) -> None:
        self.enrol(creator, match_id, created_at)
        self.move(match_id, created_at, creator, "open", private=private)

    def enrol(self, player: str, match_id: MatchId, created_at: int) -> None:
        place = f"{created_at:013d}:{match_id}"
        entries: list[Command] = [("ZADD", _player_key(player, own_list), 0, place) for own_list in get_args(OwnList)]
        send(self._client, *entries, ("PUBLISH", WAKE_CHANNEL + news_of(player), wall_clock()))

    def dismiss(self, player: str, match_id: MatchId, created_at: int) -> None:
        place = f"{created_at:013d}:{match_id}"
        keys = (*(_player_key(player, own_list) for own_list in get_args(OwnList)), _concluded_key(player))
        send(self._client, *(("ZREM", key, place) for key in keys))

    def conclude(self, player: str, match_id: MatchId, created_at: int, at: int) -> None:
        place = f"{created_at:013d}:{match_id}"
        noted: Command = ("ZADD", _concluded_key(player), "NX", at, place)
        send(self._client, noted, ("ZREM", _player_key(player, "active"), place))

    def concluded(self, player: str, since: int, skip: int, limit: int) -> tuple[str, ...]:
        places: list[bytes]
        (places,) = send(self._client, ("ZRANGEBYSCORE", _concluded_key(player), since, "+inf", "LIMIT", skip, limit))
        return tuple(place.decode() for place in places)

    def move(
        self, match_id: MatchId, created_at: int, creator: str, status_list: StatusList | None, *, private: bool
    ) -> None:
        place = f"{created_at:013d}:{match_id}"
        commands: list[Command] = []
        if status_list is not None and not private:
            commands.append(("ZADD", _status_list_key(status_list), 0, place))
        commands.append(
            ("ZADD", _creator_key(creator), 0, place)
            if status_list == "open"
            else ("ZREM", _creator_key(creator), place)
        )
        commands += [("ZREM", _status_list_key(other), place) for other in _STATUS_LISTS if other != status_list]
        send(self._client, *commands)

    def end(self, match_id: MatchId, created_at: int, ended_at: int) -> None:
        place = f"{created_at:013d}:{match_id}"
        send(self._client, ("EVAL", _END, 1, _ENDED, place, ended_at, ENDING_MS))

    def withdraw(self, match_id: MatchId, created_at: int) -> None:
        send(self._client, ("ZREM", _ENDED, f"{created_at:013d}:{match_id}"))

    def ended(self, after: int, limit: int) -> tuple[tuple[int, str], ...]:
        found: list[bytes]
        (found,) = send(self._client, ("ZRANGEBYSCORE", _ENDED, f"({after}", "+inf", "WITHSCORES", "LIMIT", 0, limit))
        return tuple((int(number), place.decode()) for place, number in zip(found[::2], found[1::2], strict=True))

    def page(self, status_list: StatusList, before: str | None, limit: int) -> tuple[str, ...]:
        return self._page(_status_list_key(status_list), before, limit)

    def matches_of(self, player: str, own_list: OwnList, before: str | None, limit: int) -> tuple[str, ...]:
        return self._page(_player_key(player, own_list), before, limit)

    def _page(self, key: str, before: str | None, limit: int) -> tuple[str, ...]:
        newest = "+" if before is None else f"({before}"
        places: list[bytes]
        (places,) = send(self._client, ("ZREVRANGEBYLEX", key, newest, "-", "LIMIT", 0, limit))
        return tuple(place.decode() for place in places)

    def open_entries(self, creator: str) -> tuple[str, ...]:
        places: list[bytes]
        (places,) = send(self._client, ("ZRANGE", _creator_key(creator), 0, -1))
        return tuple(place.decode() for place in places)
