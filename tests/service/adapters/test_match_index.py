"""The index of matches, in memory and on a server."""

from concurrent.futures import ThreadPoolExecutor
from secrets import token_hex
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.redis_log import connect
from service.adapters.match_index import RedisIndex
from service.adapters.memory import MemoryIndex
from service.errors import Refused
from service.repository import cursors, index_entry
from service.repository.index_entry import IndexEntry
from service.repository.ports import ENDING_MS, MatchIndex, OwnList, StatusList
from tests.length import LONG

STATUS_LISTS: tuple[StatusList, ...] = get_args(StatusList)
VERY_MANY = 100_000 if LONG else 20_000


@pytest.fixture(params=["memory", "redis"])
def index(request: pytest.FixtureRequest) -> MatchIndex:
    if request.param == "memory":
        return MemoryIndex()
    client = connect(request.getfixturevalue("valkey_log_url"))
    client.delete(*(f"index:{status_list}" for status_list in STATUS_LISTS), "index:ended")
    return RedisIndex(client)


@pytest.fixture
def creator() -> str:
    return f"pl_{token_hex(4)}"


def lists_with(index: MatchIndex, entry: IndexEntry) -> list[StatusList]:
    return [status_list for status_list in STATUS_LISTS if entry in index.page(status_list, None, 100)]


@pytest.mark.parametrize("status_list", [*STATUS_LISTS, None])
def test_a_public_match_is_in_one_list_however_often_it_is_moved(
    index: MatchIndex, creator: str, status_list: StatusList | None
) -> None:
    index.add("m", 12, creator, private=False)
    index.add("m", 12, creator, private=False)
    for _ in range(2):
        index.move("m", 12, creator, status_list, private=False)
        assert lists_with(index, IndexEntry(12, "m")) == ([status_list] if status_list else [])
        assert list(index.open_entries(creator)) == ([IndexEntry(12, "m")] if status_list == "open" else [])


def test_a_private_match_is_in_no_list_but_counts_as_open(index: MatchIndex, creator: str) -> None:
    index.add("m", 12, creator, private=True)
    assert (lists_with(index, IndexEntry(12, "m")), list(index.open_entries(creator))) == ([], [IndexEntry(12, "m")])
    index.move("m", 12, creator, "running", private=True)
    assert (lists_with(index, IndexEntry(12, "m")), list(index.open_entries(creator))) == ([], [])


def test_admission_is_limited_and_a_repeated_match_counts_once(index: MatchIndex, creator: str) -> None:
    requests = [(1, 12), (2, 12), (2, 12), (3, 12), (4, 12), (1, 12), (3, 99)]
    admitted = [index.admit(f"m{number}", at, creator, 3) for number, at in requests]
    assert admitted == [True, True, True, True, False, True, True]
    assert list(index.open_entries(creator)) == [IndexEntry(12, f"m{number}") for number in (1, 2, 3)]
    index.move("m2", 12, creator, None, private=False)
    assert index.admit("m4", 12, creator, 3)


def test_concurrent_admissions_do_not_exceed_the_limit(valkey_log_url: str, creator: str) -> None:
    index = RedisIndex(connect(valkey_log_url))
    with ThreadPoolExecutor(16) as pool:
        admitted = list(pool.map(lambda number: index.admit(f"m{number}", 12, creator, 20), range(64)))
    assert (sum(admitted), len(index.open_entries(creator))) == (20, 20)


def test_pages_are_newest_first_and_have_each_match_once(index: MatchIndex, creator: str) -> None:
    for number in range(7):
        index.add(f"m{number}", 9_999_999_990 + 5 * number, creator, private=False)
    seen: list[IndexEntry] = []
    before = None
    while page := index.page("open", before, 3):
        seen += page
        before = page[-1]
    assert [entry.match_id for entry in seen] == [f"m{number}" for number in range(6, -1, -1)]


def test_a_player_s_matches_are_listed_until_they_are_dismissed(index: MatchIndex, creator: str) -> None:
    entry = IndexEntry(12, "m")
    lists: tuple[OwnList, ...] = ("all", "active")
    for player in (creator, f"guest of {creator}"):
        for _ in range(2):
            index.add("m", 12, creator, private=True)
            index.enrol(player, "m", 12)
        assert [list(index.matches_of(player, own_list, None, 9)) for own_list in lists] == [[entry], [entry]]
        index.conclude(player, "m", 12, 100)
        assert [list(index.matches_of(player, own_list, None, 9)) for own_list in lists] == [[entry], []]
        index.dismiss(player, "m", 12)
        assert [list(index.matches_of(player, own_list, None, 9)) for own_list in lists] == [[], []]
        assert list(index.concluded(player, 0, 0, 9)) == []


def test_a_match_that_a_player_left_is_in_a_list_of_its_own_also_if_the_player_joins_again(
    index: MatchIndex, creator: str
) -> None:
    entry = IndexEntry(12, "m")
    index.enrol(creator, "m", 12)
    index.publish([creator], "m", 12)
    index.conclude(creator, "m", 12, 100)
    for _ in range(2):
        index.add_left(creator, "m", 12)
        index.dismiss(creator, "m", 12)
        found = {own_list: list(index.matches_of(creator, own_list, None, 9)) for own_list in get_args(OwnList)}
        assert found == {"all": [], "active": [], "public": [], "left": [entry]}
        assert list(index.concluded(creator, 0, 0, 9)) == []
    index.enrol(creator, "m", 12)
    assert list(index.matches_of(creator, "left", None, 9)) == [entry]


def test_concluded_matches_are_listed_since_a_time_and_keep_their_first_time(index: MatchIndex, creator: str) -> None:
    for at, match in ((100, "b"), (200, "a"), (300, "c"), (400, "a"), (200, "d")):
        index.enrol(creator, match, 12)
        index.conclude(creator, match, 12, at)

    def concluded(since: int, skip: int = 0, limit: int = 9) -> str:
        return "".join(entry.match_id[-1] for entry in index.concluded(creator, since, skip, limit))

    assert [concluded(since) for since in (0, 101, 200, 201, 301)] == ["badc", "adc", "adc", "c", ""]
    assert [concluded(0, skip, 2) for skip in (0, 1, 2, 4)] == ["ba", "ad", "dc", ""]
    assert list(index.concluded("somebody else", 0, 0, 9)) == []


def test_a_player_s_pages_are_newest_first(index: MatchIndex, creator: str) -> None:
    for number in range(5):
        index.enrol(creator, f"m{number}", 9_999_999_990 + 5 * number)
    first = index.matches_of(creator, "all", None, 3)
    rest = index.matches_of(creator, "all", first[-1], 3)
    assert [entry.match_id for entry in (*first, *rest)] == ["m4", "m3", "m2", "m1", "m0"]


def test_each_end_gets_the_next_number_and_keeps_it(index: MatchIndex) -> None:
    for match, ended_at in (("b", 100), ("a", 100), ("late", 40), ("c", 9_999_999_999_999), ("b", 101)):
        index.end(match, 12, ended_at)
    numbers = {entry.match_id: number for number, entry in index.ended(0, 9)}
    assert list(numbers.items()) == [("b", 100), ("a", 101), ("late", 102), ("c", 9_999_999_999_999)]
    assert list(index.ended(101, 1)) == [(102, IndexEntry(12, "late"))]


def test_an_end_that_is_announced_again_late_gets_a_new_number(index: MatchIndex) -> None:
    for match, ended_at in (("a", 1), ("b", 2), ("a", ENDING_MS + 1), ("b", ENDING_MS + 3)):
        index.end(match, 12, ended_at)
    assert list(index.ended(0, 9)) == [(1, IndexEntry(12, "a")), (ENDING_MS + 3, IndexEntry(12, "b"))]
    index.end("a", 12, ENDING_MS + 2)
    assert [entry.match_id[-1] for _, entry in index.ended(0, 9)] == ["b", "a"]


@pytest.mark.long
def test_a_page_among_very_many_matches_costs_no_more_than_the_first(valkey_log_url: str, creator: str) -> None:
    client = connect(valkey_log_url)
    entries = [IndexEntry(number, "m") for number in range(VERY_MANY)]
    for start in range(0, len(entries), 10_000):
        client.zadd(f"index:of:{creator}:all", {entry.stored: 0 for entry in entries[start : start + 10_000]})
    index = RedisIndex(client)

    def cost(before: IndexEntry | None) -> float:
        """Microseconds of the server's time for ten pages."""
        client.config_resetstat()
        for _ in range(10):
            assert len(index.matches_of(creator, "all", before, 50)) == 50
        return float(client.info("commandstats")["cmdstat_zrevrangebylex"]["usec"])

    first, last = (min(cost(before) for _ in range(5)) for before in (None, entries[50]))
    client.delete(f"index:of:{creator}:all")
    assert last < 5 * first + 500


@pytest.mark.long
def test_an_end_and_a_page_of_ends_among_very_many_cost_no_more_than_the_first(valkey_log_url: str) -> None:
    client = connect(valkey_log_url)
    client.delete("index:ended")
    index = RedisIndex(client)

    def cost(after: int, matches: str) -> float:
        """Microseconds of the server's time for ten pages and ten ends."""
        client.config_resetstat()
        for number in range(10):
            index.end(f"{matches}{number}", 12, VERY_MANY + 50)
            assert len(index.ended(after, 50)) == 50
        stats = client.info("commandstats")
        return float(stats["cmdstat_zrangebyscore"]["usec"] + stats["cmdstat_eval"]["usec"])

    def filled(first: int, last: int) -> None:
        client.zadd("index:ended", {IndexEntry(number, "m").stored: number for number in range(first, last)})

    filled(1, 60)
    few = min(cost(0, f"few{run}-") for run in range(5))
    for first in range(60, VERY_MANY, 10_000):
        filled(first, min(first + 10_000, VERY_MANY))
    many = min(cost(after, f"many{run}-{after}-") for run in range(5) for after in (0, VERY_MANY // 2, VERY_MANY - 100))
    client.delete("index:ended")
    assert many < 5 * few + 500


@given(
    moves=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([*STATUS_LISTS, None]), st.sampled_from(["p", "q"])),
        max_size=12,
    ),
    ends=st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9).map(lambda at: at * 8_000)), max_size=8),
)
def test_the_index_on_a_server_equals_the_index_in_memory(
    valkey_log_url: str, moves: list[tuple[str, StatusList | None, str]], ends: list[tuple[str, int]]
) -> None:
    client = connect(valkey_log_url)
    client.delete(
        *(f"index:{status_list}" for status_list in STATUS_LISTS), "index:ended", "index:open:p", "index:open:q"
    )
    redis, memory = RedisIndex(client), MemoryIndex()
    for match, status_list, creator in moves:
        for index in (redis, memory):
            index.move(match, 12, creator, status_list, private=match == "c")
    for match, ended_at in ends:
        for index in (redis, memory):
            index.end(match, 12, ended_at)
    assert [list(redis.ended(after, 2)) for after in (0, 5)] == [list(memory.ended(after, 2)) for after in (0, 5)]
    for status_list in STATUS_LISTS:
        assert list(redis.page(status_list, None, 10)) == list(memory.page(status_list, None, 10))
    assert [list(redis.open_entries(one)) for one in "pq"] == [list(memory.open_entries(one)) for one in "pq"]


@pytest.mark.parametrize("entry", [IndexEntry(12, "m"), IndexEntry(9_999_999_999_999, "a:b"), IndexEntry(0, "")])
def test_an_entry_is_parsed_from_its_stored_form(entry: IndexEntry) -> None:
    assert IndexEntry.parse(entry.stored) == entry


@given(st.tuples(*[st.builds(IndexEntry, st.integers(0, 10**13 - 1), st.text("aB1-", max_size=3))] * 2))
def test_entries_sort_as_their_stored_forms(entries: tuple[IndexEntry, IndexEntry]) -> None:
    assert sorted(entries) == sorted(entries, key=lambda entry: entry.stored)


@pytest.mark.parametrize("stored", ["", "m", "12:m", "0000000000012", "-000000000012:m", "00000000000012:m"])
def test_another_text_is_no_stored_form(stored: str) -> None:
    with pytest.raises(ValueError, match="not an entry"):
        IndexEntry.parse(stored)


@pytest.mark.parametrize("position", ["", "m", "12:m", 12])
def test_a_cursor_without_an_entry_is_refused(position: object) -> None:
    with pytest.raises(Refused, match="invalid-parameter"):
        index_entry.decode(cursors.encode(position))


def test_a_cursor_holds_its_entry() -> None:
    assert index_entry.decode(index_entry.encode(IndexEntry(12, "m"))) == IndexEntry(12, "m")


def test_open_matches_are_found_by_each_facet_and_pair_until_they_are_removed(index: MatchIndex, creator: str) -> None:
    facets = frozenset({f"game={creator}", "seats=2", "free_seats=1", "free_seats=2", f"creator={creator}"})
    for number in range(3):
        index.file(f"m{number}", 12 + number, facets)
    index.file("m1", 13, facets)
    pair = frozenset({f"game={creator}", "free_seats=2"})
    assert [entry.match_id for entry in index.find(pair, None, 2)] == ["m2", "m1"]
    assert [entry.match_id for entry in index.find(pair, IndexEntry(13, "m1"), 2)] == ["m0"]
    index.unfile("m1", 13, facets, facets - {"free_seats=2"})
    index.unfile("m2", 14, facets)
    assert list(index.counts([pair, frozenset({f"game={creator}"})])) == [1, 2]
    assert list(index.counts([frozenset({f"creator={creator}"}), frozenset({"seats=2", f"creator={creator}"})])) == [
        2,
        0,
    ]
