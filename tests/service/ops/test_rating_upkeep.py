"""Ratings in backups, in checks, and the commands `moonstone ratings rebuild` and `moonstone ratings check`."""

from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from events.redis_keys import key
from events.redis_log import send
from service.adapters import backup as backups
from service.adapters import heads
from service.automation import rating
from service.automation.bot_turns import advance
from service.match.new_match import DEFAULT_CLOCK, NewMatch
from service.match.rating import stream_of
from service.ops import maintenance
from service.ops.server_commands import COMMANDS
from service.repository.ports import Ports
from service.repository.rating_streams import entries
from service.usecases.match_lifecycle import create, join, leave
from tests.service.ops.stores import Store, backed_up, open_store

GAME: Final = "monkeys_on_the_moon"


def over(ports: Ports, name: str, *, is_rated: bool = True) -> str:
    """A rated match that both players left, and that is over; rated by a worker if `is_rated`."""
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, clock=DEFAULT_CLOCK, rated=True), name).match
    for player in ("pl_a", "pl_b"):
        join(ports, player, match.id, "join")
    for player in ("pl_a", "pl_b"):
        leave(ports, player, match.id, "leave")
    while advance(ports, match.id):
        pass
    if is_rated:
        rating.rate(ports, match.id)
    return match.id


def test_a_backup_in_mid_way_restores_ratings_and_what_was_not_rated_is_rated_later(
    store: Store, restore_targets: tuple[dict[str, str], ...], tmp_path: Path, stack: ExitStack
) -> None:
    matches = [over(store.ports, name) for name in ("first", "second")]
    matches.append(over(store.ports, "third", is_rated=False))
    file = backed_up(store, tmp_path)
    assert store.messages == [f"backed up 3 matches to {file}"]
    rating.rate(store.ports, matches[2])  # after the backup
    for environ in restore_targets:
        messages: list[str] = []
        assert maintenance.restore(environ, file, messages.append), messages
        assert messages[0] == f"restored 3 matches from {file}"
        assert messages[-1] == "folded 2 rated matches into the leaderboards"
        restored = open_store(environ, stack)
        stream = [entry.rated.match for entry in entries(restored.ports.log, GAME)]
        assert stream == matches[:2]
        assert [due.match for due in restored.ports.log.scheduled("rating")] == matches[2:]
        for due in restored.ports.log.scheduled("rating"):
            rating.rate(restored.ports, due.match)
        assert [entry.rated.match for entry in entries(restored.ports.log, GAME)] == matches
        assert restored.ports.log.scheduled("rating") == ()
        assert restored.check()
        assert restored.ports.ratings.standings(GAME, ("pl_a",)) == store.ports.ratings.standings(GAME, ("pl_a",))


def test_rating_streams_are_read_before_the_matches_that_they_name(store: Store) -> None:
    over(store.ports, "first")
    kinds = [frame.is_match for frame in backups.read_store(store.client, 0) if isinstance(frame, backups.StoredMatch)]
    assert kinds == [False, True]


def test_the_heads_of_rating_streams_are_saved_and_a_lost_entry_is_found(store: Store) -> None:
    over(store.ports, "first")
    found = set(heads.stored_matches(store.client))
    assert stream_of(GAME) in found
    kept = heads.newest_heads(store.client, sorted(found))
    assert list(heads.missing(store.client, kept.items())) == []
    send(store.client, ("DEL", key(stream_of(GAME), "events")))
    assert [one.match for one in heads.missing(store.client, kept.items())] == [stream_of(GAME)]


def test_a_check_counts_ratings_and_names_what_waits(store: Store) -> None:
    over(store.ports, "first")
    over(store.ports, "second", is_rated=False)
    assert store.check()
    expected = "checked 1 rated matches and 2 ratings, 1 matches wait for their rating: 0 faults"
    assert expected in store.messages


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (("HDEL", "index:{ratings:monkeys_on_the_moon}:standings", "pl_a"), "the leaderboards do not follow"),
        (("SET", "index:{ratings:monkeys_on_the_moon}:position", f"1 {'0' * 64}"), "from another stream"),
        (("XTRIM", key(stream_of(GAME), "events"), "MAXLEN", "0"), "the stream lost version 1"),
    ],
)
def test_the_commands_name_each_fault_and_a_rebuild_repairs_what_is_derived(
    store: Store, damage: tuple[str, ...], fault: str
) -> None:
    over(store.ports, "first")

    def run(command: str) -> tuple[int, str]:
        done = CliRunner().invoke(COMMANDS["ratings"], [command], env=store.environ)
        return done.exit_code, done.output

    assert run("check") == (0, "checked 1 rated matches and 2 ratings: 0 faults\n")
    send(store.client, damage)
    code, output = run("check")
    assert code == 1
    assert f"the ratings of {GAME}: " in output
    assert fault in output
    assert run("rebuild")[0] == 0
    assert run("check")[0] == (1 if damage[0] == "XTRIM" else 0)
