"""Streams of one match: events, viewers and ends."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
import pytest

from events.chain import Draft, seal
from events.record import canonical
from service.games.visibility import Viewer
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions, see_decisions
from service.match.texts import decisions_with_text
from service.subscriptions.frames import EVENT_STREAM, NDJSON, Reason
from service.subscriptions.situation import Include
from service.usecases import accounts
from service.usecases.match_codes import join_code_of
from service.usecases.match_lifecycle import create, join, leave
from tests.api.table import Table, set_table
from tests.service.subscriptions.stream_server import StreamServer, end, lines, up_to_date


@pytest.mark.parametrize("viewer", [None, 1])
def test_each_event_is_sent_once_and_in_order(server: StreamServer, table: Table, viewer: Viewer) -> None:
    stream = lines(server.follow(table.match_id, player=table.ben if viewer else None, token=table.ben_token))
    sent = []
    while (line := next(stream)) and not line.startswith(b'{"type":"end"'):
        sent.append(line)
        if msgspec.json.decode(line)["version"] == server.ports.history.newest(table.match_id)[0].head.version:
            table.play(server.ports, 2)
    assert sent == server.expected(table, viewer)
    assert line.startswith(b'{"type":"end","reason":"finished"')
    assert server.log.reads < 10 * len(sent)


def test_streams_in_one_process_send_each_viewer_only_its_own_view(server: StreamServer, table: Table) -> None:
    """The streams run side by side in one process and share encoded events."""
    following = [
        server.follow(table.match_id, player=player, token=table.ben_token, form=form)
        for player, form in ((None, EVENT_STREAM), (None, NDJSON), (table.ben, NDJSON))
    ]
    sent = [next(stream) for stream in following]
    while table.play(server.ports).server_seed is None:
        for index, stream in enumerate(following):
            sent[index] += next(piece for piece in stream if piece.strip(b":\n"))
    texts = [text + b"".join(stream) for text, stream in zip(sent, following, strict=True)]
    events = [
        re.findall(rb'^%s(\{"match":.*"prev":.*\})$' % before, text, re.MULTILINE)
        for before, text in zip((b"data: ", b"", b""), texts, strict=True)
    ]
    assert events == [server.expected(table, viewer) for viewer in (None, None, 1)]


def test_the_stream_of_a_player_who_leaves_a_private_match_ends(server: StreamServer) -> None:
    (anna, _), (ben, token) = (accounts.sign_up(server.ports, name) for name in ("Anna", "Ben"))
    match = create(server.ports, anna.id, NewMatch("monkeys_on_the_moon", 2, private=True), "create").match
    joined = join(server.ports, ben.id, match.id, "join", join_code=join_code_of(server.ports.secret, match.id)).match
    stream = up_to_date(server.follow(match.id, player=ben, token=token), joined.head)
    leave(server.ports, ben.id, match.id, "leave")
    assert end(stream) == "match-not-found"


def test_a_spectator_who_takes_a_seat_gets_its_view(server: StreamServer) -> None:
    (anna, _), (ben, token) = (accounts.sign_up(server.ports, name) for name in ("Anna", "Ben"))
    wanted = NewMatch("monkeys_on_the_moon", 2, bots=("random",))
    match = create(server.ports, anna.id, wanted, "create").match
    stream = server.follow(match.id, player=ben, token=token)
    up_to_date(stream, match.head)
    join(server.ports, ben.id, match.id, "join")
    leave(server.ports, ben.id, match.id, "leave")
    table = Table(match.id, anna, "", ben, token, set_table(server.ports).chance_of)
    table.finish(server.ports)
    assert [*lines(stream)][:-1] == server.expected(table, 1)[match.head.version :]


@pytest.mark.parametrize("lost", ["removed", "replaced"])
def test_a_log_that_lost_events_ends_the_stream_with_history_diverged(
    server: StreamServer, table: Table, lost: str
) -> None:
    before = table.play(server.ports, 5)
    stream = up_to_date(server.follow(table.match_id), before.head)
    stored = server.log._matches[table.match_id]
    del stored.events[-3:]
    after, _ = server.ports.history.newest(table.match_id)
    stored.head = after.head
    if lost == "replaced":
        stored.commands.clear()
        table.play(server.ports, 10)
    assert end(stream) == "history-diverged"


def sealed(match: Match, **fields: object) -> bytes:
    """An event that follows the head of a match, with some fields replaced."""
    (event,), _ = seal(match.head, [Draft("clock_extended", "worker", b"{}")], match.at, ["0" * 32])
    return canonical({**msgspec.json.decode(event), **fields})


UNREADABLE: Final[Mapping[str, tuple[Callable[[Match], bytes], Reason]]] = {
    "damage": (lambda _: b"{}", "match-corrupt"),
    "another chain": (lambda match: sealed(match, prev="0" * 64), "match-corrupt"),
    "a later kind of event": (lambda match: sealed(match, type="lent"), "engine-too-old"),
    "a later reason": (lambda match: sealed(match, data={"ms": 1, "reason": "storm"}), "engine-too-old"),
    "a later field of an event": (lambda match: sealed(match, data={"why": 1}), "engine-too-old"),
    "a later field of every event": (lambda match: sealed(match, trace="new"), "engine-too-old"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_unreadable_event_ends_the_stream_with_the_reason(server: StreamServer, table: Table, kind: str) -> None:
    event_after, reason = UNREADABLE[kind]
    match, _ = server.ports.history.newest(table.match_id)
    stream = up_to_date(server.follow(table.match_id), match.head)
    server.log._matches[table.match_id].events.append(event_after(match))
    assert end(stream) == reason


def as_json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def test_each_event_has_the_decisions_right_after_it_and_the_newest_has_legal_actions(
    server: StreamServer, table: Table
) -> None:
    include = Include(decisions=True, legal_actions=True, language="en")
    before, _ = server.ports.history.newest(table.match_id)
    stream = server.follow(table.match_id, player=table.ben, token=table.ben_token, after=before.head, include=include)
    hello = msgspec.json.decode(next(stream))
    assert hello["legal_actions"] == as_json(legal_actions(before, 1))
    for moves in (1, 5):
        server.drops_wakes = True
        match = table.play(server.other_process, moves)
        server.drops_wakes = False
        server.wake(match.id, match.head.version)
        piece = next(piece for piece in stream if piece != NDJSON.heartbeat)
        sent = [msgspec.json.decode(line) for line in piece.splitlines()]
        assert [event["version"] for event in sent][-1] == match.head.version
        for event in sent:
            then = server.other_process.history.at(match.id, event["version"])
            expected = decisions_with_text(match.game, "en", see_decisions(then, 1))
            assert event["decisions"] == as_json(expected)
            assert ("legal_actions" in event) is (then.head == match.head)
        assert sent[-1]["legal_actions"] == as_json(legal_actions(match, 1))
        assert len(sent[-1]["action_texts"]) == len(sent[-1]["legal_actions"])
