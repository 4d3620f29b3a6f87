"""The contract of `Log` as one test suite; a subclass provides the fixture `log`, empty for each test."""

from itertools import count
from threading import Thread

import msgspec
import pytest

from events.chain import Draft, follow, genesis, seal
from events.due import Due
from events.log import MAX_BYTES, MAX_EVENTS, Append, Appended, Conflict, Log, Reused, Seen, Tail
from events.record import Head, MatchId

SEED = bytes(range(32))
_serial = count()

KINDS = ("job", "clock", "bots")
"""Any names: the log gives them no meaning."""


def start(match: MatchId) -> Head:
    return genesis(match, "toy", 1)[1]


def build(
    match: MatchId,
    head: Head,
    command: str,
    *,
    events: int = 1,
    digest: str = "d",
    due: dict[str, int] | None = None,
    size: int = 0,
    snapshot: bytes | None = None,
) -> tuple[Append, Head]:
    """An append of distinct events after `head`, and the new head; `due`: times by kind; `size`: padding in bytes."""
    drafts = [Draft("action", "seat:0", b'{"n":%d,"pad":"%s"}' % (next(_serial), b"x" * size)) for _ in range(events)]
    stored, end = seal(head, drafts, 1000, ["5a" * 16] * events)
    due_times = dict.fromkeys(KINDS) | (due or {})
    return Append(match, command, digest, head, stored, due_times, SEED if head.version == 0 else None, snapshot), end


def chained(match: MatchId, tail: Tail) -> Head:
    """The head after `tail`, which has all events of a match; verifies the chain."""
    head = start(match)
    for stored in tail.events:
        _, head = follow(head, stored)
    return head


def create(log: Log, match: MatchId, *, events: int = 1, due: dict[str, int] | None = None) -> tuple[Append, Head]:
    append, head = build(match, start(match), "create", events=events, due=due)
    assert log.append(append) == Appended(events, replayed=False)
    return append, head


class LogContract:
    def test_a_match_that_was_not_created_is_empty(self, log: Log) -> None:
        assert log.read("m", command="c") == Tail(())
        assert log.seed("m") is None

    def test_appended_events_are_read_back_with_their_command_and_seed(self, log: Log) -> None:
        first, head = create(log, "m", events=2)
        second, _ = build("m", head, "p:ann:key", events=3, digest="abc")
        assert log.append(second) == Appended(5, replayed=False)
        assert log.read("m", command="p:ann:key") == Tail(first.events + second.events, Seen(5, "abc"))
        assert log.read("m", command="create").seen == Seen(2, "d")
        assert log.read("m", command="p:bob:key").seen is None
        assert log.read("m").seen is None
        assert log.seed("m") == SEED
        assert log.commands("m", "p:") == {"p:ann:key": Seen(5, "abc")}
        assert log.commands("m", "") == {"create": Seen(2, "d"), "p:ann:key": Seen(5, "abc")}
        assert log.commands("other", "") == {}

    @pytest.mark.parametrize(
        ("first", "last", "versions"),
        [
            (1, None, [1, 2, 3, 4, 5]),
            (3, None, [3, 4, 5]),
            (6, None, []),
            (2, 4, [2, 3, 4]),
            (5, 5, [5]),
            (4, 99, [4, 5]),
            (0, 1, [1]),
            (1, 0, []),
            (4, 3, []),
        ],
    )
    def test_a_range_of_versions_is_read(self, log: Log, first: int, last: int | None, versions: list[int]) -> None:
        append, _ = create(log, "m", events=5)
        assert log.read("m", first=first, last=last).events == tuple(append.events[v - 1] for v in versions)

    @pytest.mark.parametrize(
        ("last", "snapshot", "versions"),
        [
            (None, b"seven", [7, 8]),
            (99, b"seven", [7, 8]),
            (7, b"seven", [7]),
            (6, b"three", [3, 4, 5, 6]),
            (2, None, [1, 2]),
            (0, None, []),
        ],
    )
    def test_a_reading_begins_at_the_newest_snapshot_that_is_not_too_new(
        self, log: Log, last: int | None, snapshot: bytes | None, versions: list[int]
    ) -> None:
        first, head = create(log, "m", events=2)
        second, head = build("m", head, "c", events=5, snapshot=b"seven")
        third, _ = build("m", head, "d")
        log.append(second)
        log.append(third)
        log.save_snapshots("m", 0, {3: b"three"})
        stored = first.events + second.events + third.events
        found = log.read("m", first=None, last=last, command="c")
        assert found == Tail(tuple(stored[version - 1] for version in versions), Seen(7, "d"), snapshot)
        assert log.read("m", last=last).snapshot is None

    def test_snapshots_replace_those_in_their_range(self, log: Log) -> None:
        create(log, "m", events=9)
        log.save_snapshots("m", 0, {3: b"old 3", 5: b"old 5", 8: b"old 8"})
        log.save_snapshots("m", 3, {4: b"4", 6: b"6"})
        found = [log.read("m", first=None, last=last).snapshot for last in range(10)]
        assert found == [None] * 3 + [b"old 3", b"4", b"4", b"6", b"6", b"old 8", b"old 8"]

    def test_an_append_replaces_all_later_snapshots_and_a_refused_append_keeps_them(self, log: Log) -> None:
        _, head = create(log, "m", events=2)
        log.save_snapshots("m", 0, {2: b"2", 3: b"of lost events", 50: b"of lost events"})
        conflicting, _ = build("m", Head(2, "f" * 64), "c", snapshot=b"refused")
        assert log.append(conflicting) == Conflict(head)
        append, _ = build("m", head, "c", events=2, snapshot=b"4")
        assert log.append(append) == Appended(4, replayed=False)
        assert [log.read("m", first=None, last=last).snapshot for last in (2, 3, 4, 99)] == [b"2", b"2", b"4", b"4"]
        assert log.append(msgspec.structs.replace(append, snapshot=b"again")) == Appended(4, replayed=True)
        assert log.read("m", first=None).snapshot == b"4"

    def test_a_snapshot_beyond_the_events_returns_no_events(self, log: Log) -> None:
        create(log, "m", events=2)
        log.save_snapshots("m", 0, {5: b"five"})
        log.save_snapshots("n", 0, {1: b"one"})
        assert log.read("m", first=None) == Tail((), None, b"five")
        assert log.read("n", first=None) == Tail((), None, b"one")
        assert log.read("n", first=None, last=0) == Tail((), None)
        assert create(log, "n")[1].version == 1

    def test_several_matches_are_read_at_once_each_from_its_own_version(self, log: Log) -> None:
        one, _ = create(log, "m", events=4)
        other, _ = create(log, "n", events=3)
        log.save_snapshots("n", 0, {2: b"two"})
        assert log.read_each({"m": 3, "nowhere": None, "n": None}) == {
            "m": Tail(one.events[2:]),
            "nowhere": Tail(()),
            "n": Tail(other.events[1:], None, b"two"),
        }
        assert log.read_each({}) == {}

    def test_matches_do_not_see_each_other(self, log: Log) -> None:
        one, _ = create(log, "m")
        other, _ = create(log, "n")
        assert log.read("m").events == one.events
        assert log.read("n").events == other.events

    def test_a_repeated_command_gets_the_same_answer_after_later_events(self, log: Log) -> None:
        append, head = create(log, "m", events=2, due={"job": 5})
        later, _ = build("m", head, "later")
        assert log.append(append) == Appended(2, replayed=True)
        log.append(later)
        assert log.append(append) == Appended(2, replayed=True)
        assert log.read("m").events == append.events + later.events
        assert log.next_due(KINDS) is None

    def test_a_command_id_that_another_command_used_is_rejected(self, log: Log) -> None:
        append, head = create(log, "m", events=2)
        reused, _ = build("m", head, "create", digest="other", due={"clock": 1})
        assert log.append(reused) == Reused(2)
        assert log.read("m", command="create") == Tail(append.events, Seen(2, "d"))
        assert log.next_due(KINDS) is None

    @pytest.mark.parametrize("command", ["p:ann:a b", "p:ann:ключ 😀", "p:ann:\x00\r\n", "p:ann:" + "k" * 255, "7 x"])
    def test_any_text_is_a_command_id(self, log: Log, command: str) -> None:
        _, head = create(log, "m")
        append, _ = build("m", head, command, digest="5 d")
        log.append(append)
        assert log.append(append) == Appended(2, replayed=True)
        assert log.read("m", command=command).seen == Seen(2, "5 d")

    @pytest.mark.parametrize("wrong", ["older", "newer", "another hash", "not created", "created again"])
    def test_an_append_after_another_head_conflicts_and_writes_nothing(self, log: Log, wrong: str) -> None:
        first, middle = create(log, "m", due={"job": 7})
        second, head = build("m", middle, "second", due={"job": 8, "clock": 9})
        log.append(second)
        match = "n" if wrong == "not created" else "m"
        expected = {
            "older": middle,
            "newer": Head(3, head.hash),
            "another hash": Head(2, middle.hash),
            "not created": Head(2, head.hash),
            "created again": start("m"),
        }[wrong]
        append, _ = build(match, expected, "third", due={"job": 1})
        append = Append(match, "third", "d", expected, append.events, append.due)
        assert log.append(append) == Conflict(head if match == "m" else None)
        assert log.read("m", command="third") == Tail(first.events + second.events)
        assert log.read("n", command="third") == Tail(())
        assert log.claim("job", 10, 100, 10) == (Due("m", "job", 8),)
        assert log.scheduled("clock") == (Due("m", "clock", 9),)

    def test_the_largest_append_is_stored_whole(self, log: Log) -> None:
        append, head = build("m", start("m"), "c", events=MAX_EVENTS, size=MAX_BYTES // MAX_EVENTS - 300)
        assert log.append(append) == Appended(MAX_EVENTS, replayed=False)
        assert chained("m", log.read("m")) == head

    @pytest.mark.parametrize(
        ("append", "fault"),
        [
            (Append("m", "c", "d", start("m"), ()), "0 events"),
            (build("m", start("m"), "c", events=MAX_EVENTS + 1)[0], "65 events"),
            (build("m", start("m"), "c", events=2, size=MAX_BYTES // 2)[0], "bytes"),
            (Append("m", "c", "d", Head(1, "h"), (b"e",), {}, SEED), "seed"),
        ],
    )
    def test_an_invalid_append_is_rejected_before_anything_is_written(
        self, log: Log, append: Append, fault: str
    ) -> None:
        with pytest.raises(ValueError, match=fault):
            log.append(append)
        assert log.read("m", command="c") == Tail(())
        assert log.next_due(KINDS) is None

    def test_an_append_replaces_the_due_times_of_its_match(self, log: Log) -> None:
        _, head = create(log, "m", due={"job": 100, "clock": 50})
        create(log, "n", due={"clock": 75})
        assert log.next_due(KINDS) == 50
        append, head = build("m", head, "c", due={"job": 200})
        log.append(append)
        assert log.next_due(KINDS) == 75
        assert log.scheduled("clock") == (Due("n", "clock", 75),)
        assert log.claim("job", 1000, 10, 10) == (Due("m", "job", 200),)
        append, _ = build("m", head, "c2")
        log.append(append)
        assert log.claim("job", 5000, 10, 10) == ()

    def test_nothing_is_due_in_an_empty_log(self, log: Log) -> None:
        assert log.next_due(KINDS) is None
        assert (log.claim("job", 10**13, 1, 10), log.overdue("clock", 10**13, 10), log.scheduled("clock")) == (
            (),
            (),
            (),
        )

    def test_a_claim_takes_jobs_that_are_due_and_keeps_others_away_for_the_lease(self, log: Log) -> None:
        now = 1_800_000_000_000
        create(log, "m", due={"job": now})
        create(log, "n", due={"job": now + 1, "clock": now - 5})
        assert log.claim("job", now, 2000, 10) == (Due("m", "job", now),)
        assert log.claim("job", now, 2000, 10) == ()
        assert log.claim("job", now + 1999, 2000, 10) == (Due("n", "job", now + 1),)
        assert log.claim("job", now + 2000, 2000, 10) == (Due("m", "job", now + 2000),)
        assert log.next_due(KINDS) == now - 5

    def test_the_earliest_jobs_are_claimed_first_up_to_the_limit_over_all_matches(self, log: Log) -> None:
        # More matches than partitions, so that a partition has several and only some of them are claimed.
        dues = [Due(f"m{n}", "job", 100 - n % 7) for n in range(130)]
        for due in dues:
            create(log, due.match, due={"job": due.at})
        order = tuple(sorted(dues, key=lambda due: (due.at, due.match)))
        assert log.claim("job", 1000, 10_000, 50) == order[:50]
        assert log.claim("job", 1000, 10_000, 1) == order[50:51]
        assert log.claim("job", 1000, 10_000, 1000) == order[51:]
        assert log.claim("job", 1000, 10_000, 1000) == ()

    def test_kinds_are_claimed_and_counted_separately_and_an_append_may_move_a_match_to_another_kind(
        self, log: Log
    ) -> None:
        _, head = create(log, "m", due={"job": 10, "clock": 20})
        create(log, "n", due={"bots": 5})
        assert log.claim("job", 100, 10, 10) == (Due("m", "job", 10),)
        assert log.claim("bots", 100, 10, 10) == (Due("n", "bots", 5),)
        append, _ = build("m", head, "c", due={"bots": 30})
        log.append(append)
        assert (log.claim("job", 1000, 10, 10), log.scheduled("clock"), log.overdue("clock", 1000, 10)) == ((), (), ())
        assert [log.count_due("bots", until) for until in (29, 30, 109, 110)] == [0, 1, 1, 2]
        assert (log.next_due(KINDS), log.next_due(["bots"]), log.next_due(["job", "clock"])) == (30, 30, None)

    def test_clocks_stay_overdue_until_an_append_replaces_them(self, log: Log) -> None:
        _, head = create(log, "m", due={"clock": 20})
        create(log, "n", due={"clock": 10, "job": 1})
        create(log, "o", due={"clock": 31})
        both = (Due("n", "clock", 10), Due("m", "clock", 20))
        assert log.overdue("clock", 30, 10) == both
        assert log.overdue("clock", 30, 10) == both
        assert log.overdue("clock", 30, 1) == both[:1]
        assert log.scheduled("clock") == (*both, Due("o", "clock", 31))
        append, _ = build("m", head, "clock:1", due={"clock": 99})
        log.append(append)
        assert log.overdue("clock", 30, 10) == both[:1]

    def test_due_times_can_be_replaced_while_the_version_is_unchanged(self, log: Log) -> None:
        _, head = create(log, "m", due={"job": 10, "clock": 20})
        assert log.rearm("m", 1, {"job": 30, "clock": None})
        assert (log.claim("job", 50, 10, 10), log.scheduled("clock")) == ((Due("m", "job", 30),), ())
        append, _ = build("m", head, "c", due={"clock": 40})
        log.append(append)
        assert not log.rearm("m", 1, {})
        assert not log.rearm("m", 3, {"job": 1})
        assert not log.rearm("n", 1, {"job": 1})
        assert not log.rearm("n", 0, {"job": 1})
        assert log.next_due(KINDS) == 40
        assert log.rearm("m", 2, dict.fromkeys(KINDS))
        assert log.next_due(KINDS) is None

    def test_due_times_of_kinds_that_an_append_does_not_name_are_kept(self, log: Log) -> None:
        append, head = create(log, "m", due={"job": 1, "clock": 2})
        log.append(Append("m", "c", "d", head, build("m", head, "c")[0].events, {"news": 3, "job": None}))
        assert (log.next_due(["job"]), log.next_due(["clock"]), log.next_due(["news"])) == (None, 2, 3)
        assert log.rearm("m", 2, {"news": None})
        assert log.next_due([*KINDS, "news"]) == 2
        assert log.append(append) == Appended(1, replayed=True)

    def test_an_append_replaces_a_due_time_only_if_there_is_one(self, log: Log) -> None:
        _, head = create(log, "m", due={"job": 1})
        append, head = build("m", head, "c")
        log.append(msgspec.structs.replace(append, due_if_any={"news": 5}))
        assert log.next_due(["news"]) is None
        log.rearm("m", 2, {"news": 900})
        append, head = build("m", head, "d", due={"job": 7})
        log.append(msgspec.structs.replace(append, due_if_any={"news": 8}))
        assert (log.next_due(["news"]), log.next_due(["job"])) == (8, 7)
        log.append(build("m", head, "e")[0])
        assert log.next_due(["news"]) == 8

    def test_exactly_one_of_many_writers_wins_each_version(self, log: Log) -> None:
        create(log, "m")
        won: list[int] = []

        def write(writer: int) -> None:
            for n in range(10):
                while True:
                    append, _ = build("m", chained("m", log.read("m")), f"w:{writer}:{n}", events=1 + n % 2)
                    answer = log.append(append)
                    if isinstance(answer, Appended):
                        won.extend(range(append.expected.version + 1, answer.version + 1))
                        break

        writers = [Thread(target=write, args=(n,)) for n in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert sorted(won) == list(range(2, 62))
        assert chained("m", log.read("m")).version == 61
