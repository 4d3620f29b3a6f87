"""What a viewer may see, and whose view a player may ask for."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from events.record import canonical
from service.games.visibility import Viewer
from service.match.model import Match
from service.match.redaction import SeenEvent, legal_actions, own_decisions, see_decisions, see_event, viewer_of
from tests.service.arena import START, Arena, refused

SEATS = (0, 1, 2)

SECRET: Mapping[str, set[str]] = {"table_laid": {"deck"}, "deck_reshuffled": {"order"}}
PRIVATE: Mapping[str, set[str]] = {
    "luck_dealt": {"value"},
    "cards_drawn": {"cards"},
    "card_committed": {"card"},
    "card_forfeited": {"card"},
    "cards_swapped": {"cards"},
}


def data_of(event: SeenEvent) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(event.data)
    return found


def seen(arena: Arena, match: Match, viewer: Viewer) -> tuple[SeenEvent, ...]:
    return arena.ports.history.events(match, viewer, 0, 1_000)


def eventful_match(arena: Arena, **options: Any) -> str:
    """A match with actions, swaps, default actions, timers, a bot and a player who left."""
    table = arena.toy("anna", "ben", bots=("random",), tricks=3, **options)
    arena.wait(1_000)
    arena.act(table, "anna")
    arena.ring(table)
    arena.act(table, "anna", {"type": "swap", "cards": arena.match(table).state.hands[1][:2]})
    arena.leave(table, "ben")
    arena.play_out(table)
    return table


@pytest.mark.parametrize("viewer", [None, *SEATS])
def test_draws_are_never_shown_and_the_salt_only_with_the_whole_event(viewer: Viewer) -> None:
    arena = Arena()
    table = eventful_match(arena)
    stored = arena.events(table)
    assert {event.type for event in stored} >= {"timer", "default_action", "match_scored", "resigned", "action"}
    for event, raw in zip(seen(arena, arena.match(table), viewer), stored, strict=True):
        is_whole = data_of(event) == msgspec.json.decode(raw.data)
        assert "draws" not in data_of(event)
        assert (event.match, event.version, event.type) == (table, raw.version, raw.type)
        assert (event.at, event.by, event.prev) == (raw.at, raw.by, raw.prev)
        assert (event.salt, event.redacted) == ((raw.salt, UNSET) if is_whole else (UNSET, True)), event
        assert bytes(event.data) == canonical(data_of(event))


@pytest.mark.parametrize("kind", ["action", "default_action", "timer", "match_scored"])
def test_draws_are_hidden_even_if_all_their_effects_are_public(kind: str) -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(1_000)
    arena.act(table, "anna")
    match, event = arena.match(table), arena.events(table)[-1]
    rest: dict[str, dict[str, Any]] = {
        "action": {"effects": [], "seat": 0, "action": msgspec.json.decode(event.data)["action"]},
        "default_action": {"effects": [], "seat": 0, "action": {"type": "keep"}, "reason": "clock"},
        "timer": {"effects": [], "label": "trick"},
        "match_scored": {"outcome": {"winners": [0]}},
    }
    data = rest[kind] | {"draws": [{"label": "luck", "outcome": 7}]}
    drawn = msgspec.structs.replace(event, type=kind, data=msgspec.Raw(canonical(data)))
    found = see_event(match, drawn, match.head.hash, 0)
    assert (found.redacted, found.salt) == (True, UNSET)
    assert data_of(found) == {name: value for name, value in data.items() if name != "draws"}


@pytest.mark.parametrize("viewer", [None, *SEATS])
def test_hidden_fields_are_absent_and_the_others_as_they_were(viewer: Viewer) -> None:
    arena = Arena()
    table = eventful_match(arena)
    for event, raw in zip(seen(arena, arena.match(table), viewer), arena.events(table), strict=True):
        whole = msgspec.json.decode(raw.data)
        whole.pop("draws", None)
        effects, shown = whole.pop("effects", []), data_of(event)
        for effect, part in zip(effects, shown.pop("effects", []), strict=True):
            hidden = SECRET.get(effect["type"], set())
            if effect.get("seat") != viewer:
                hidden = hidden | PRIVATE.get(effect["type"], set())
            assert part == {name: value for name, value in effect.items() if name not in hidden}
        if raw.type == "action" and whole["seat"] != viewer:
            whole["action"] = {name: whole["action"][name] for name in whole["action"] if name not in {"card", "cards"}}
        assert shown == whole


def test_a_seat_sees_its_own_action_whole() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.wait(1_000)
    arena.act(table, "anna")
    match = arena.match(table)
    mine, theirs, public = (seen(arena, match, viewer)[-1] for viewer in (0, 1, None))
    assert (mine.redacted, theirs.redacted, public.redacted) == (UNSET, True, True)
    assert "card" in data_of(mine)["action"]
    assert "card" not in data_of(theirs)["action"]
    assert theirs == public


def test_the_default_action_is_shown_to_its_own_seat_only() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.ring(table)
    match = arena.match(table)
    assert match.state.step == "swap"
    for viewer in (None, 0, 1):
        for decision in see_decisions(match, viewer):
            expected = {"type": "keep"} if decision.seat == viewer else UNSET
            shown = decision.on_timeout
            assert (shown if shown is UNSET else msgspec.to_builtins(shown)) == expected
        own = [decision for decision in see_decisions(match, viewer) if decision.seat == viewer]
        assert [*own_decisions(match, viewer)] == own
    assert {(one.id, one.seat, one.step) for one in see_decisions(match, None)} == {
        (one.id, one.seat if one.seat >= 0 else "clock", one.step) for one in match.decisions()
    }


def test_a_deadline_that_the_options_hide_is_null_for_every_viewer() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben", timer_visible=False)
    match = arena.match(table)
    for viewer in (None, 0, 1):
        decisions = see_decisions(match, viewer)
        assert [one.seat for one in decisions] == [0, 1, "clock"]
        assert {(one.opens_at, one.deadline) for one in decisions} == {(START + 1_000, None)}
    assert {one.deadline for one in match.decisions()} == {START + 31_000}
    assert [due.at for due in arena.log.scheduled("clock")] == [START + 31_100]


def test_the_match_s_turn_clock_is_shown_even_if_the_options_hide_the_game_s_timer() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben", timer_visible=False, turn_seconds=60)
    arena.ring(table)
    assert {one.deadline for one in see_decisions(arena.match(table), None)} == {arena.time + 60_000}


def test_a_private_match_is_not_found_by_strangers() -> None:
    arena = Arena()
    table = arena.join(arena.create(private=True), "anna", "ben")
    match = arena.match(table)
    assert [viewer_of(match, player) for player in ("anna", "ben", "host")] == [0, 1, None]
    for stranger in (None, "carl"):
        for wanted in (None, 0, 7):
            refused("match-not-found", viewer_of, match, stranger, wanted)
    refused("match-not-found", arena.act, table, "carl", {"type": "keep"})
    refused("match-not-found", arena.leave, table, "carl")


def test_another_seat_s_view_is_open_only_after_the_end() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.match(table)
    assert [viewer_of(match, player, seat) for player, seat in (("anna", None), ("anna", 0), ("carl", None))] == [
        0,
        0,
        None,
    ]
    for player, seat in (("anna", 1), ("carl", 0), (None, 0)):
        refused("not-your-seat", viewer_of, match, player, seat)
    for seat in (-1, 2):
        refused("invalid-parameter", viewer_of, match, "anna", seat)
    over = arena.play_out(table)
    assert [viewer_of(over, player, seat) for player, seat in (("anna", 1), ("carl", 0), (None, 1))] == [1, 0, 1]


def test_the_legal_list_is_a_seat_s_own_while_the_match_runs() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    match = arena.match(table)
    assert len(legal_actions(match, 0)) == 3
    assert legal_actions(match, None) == ()
    assert legal_actions(arena.ports.history.at(table, 2), 0) == ()
    assert legal_actions(arena.play_out(table), 0) == ()


def test_matches_that_differ_only_in_hidden_data_look_the_same_to_a_viewer() -> None:
    """Ben commits another card: all that anna and a spectator see stays the same, byte for byte."""
    responses = []
    for choice in (0, 1):
        arena = Arena()
        table = arena.toy("anna", "ben", "carl")
        arena.wait(1_000)
        arena.act(table, "ben", arena.legal(table, "ben")[choice], key="bens")
        match = arena.match(table)
        for viewer in (None, 0):
            masked = msgspec.structs.replace(seen(arena, match, viewer)[-1], hash="", prev="")
            view = match.game.observation(match.state, viewer), see_decisions(match, viewer)
            illegal = refused("illegal-action", arena.act, table, "anna", {"type": "keep"})
            responses.append(
                canonical([masked, view, legal_actions(match, viewer), illegal.detail, {**illegal.facts, "head": ""}])
            )
    assert responses[:2] == responses[2:]
