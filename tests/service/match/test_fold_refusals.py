"""Bytes that are not a valid event of a match stop its fold at their version."""

from contextlib import nullcontext
from typing import Any, Final

import msgspec
import pytest

from events.chain import FORMATS, NEWEST_FORMAT, Draft, genesis, seal
from events.record import canonical
from service.errors import Corrupt, location
from service.match.fold import begin, step
from tests.service.arena import ENDLESS, Arena, one_more, refused
from tests.service.games.toy.game import TOY


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("seat_taken", {"seat": 2, "player": "ben", "kind": "human"}),
        ("seat_taken", {"seat": -1, "player": "ben", "kind": "human"}),
        ("seat_left", {"seat": 9}),
        ("seat_handed_over", {"seat": 5, "player": "ben", "kind": "human"}),
        ("resigned", {"seat": -1}),
        ("match_resumed", {}),
    ],
)
def test_an_event_that_is_impossible_in_the_match_is_corrupt(kind: str, data: Any) -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", bots=("high",)))
    with pytest.raises(Corrupt) as caught:
        one_more(match, kind, data)
    assert caught.value.version == match.head.version + 1


NEWER: Final = [
    ("seat_taken", {"seat": 0, "player": "ben", "kind": "cat"}),
    ("seat_left", {"seat": 0, "why": "tired"}),
    ("resigned", {}),
    ("clock_extended", {"ms": "5", "reason": "outage"}),
    ("clock_extended", {"ms": 1.5, "reason": "outage"}),
    ("clock_extended", {"ms": 5, "reason": "maintenance"}),
    ("match_scored", {"outcome": {"scores": [1]}}),
    ("seed_revealed", {}),
    ("match_suspended", {}),
    ("match_resumed", {"why": "mended"}),
    ("match_resumed", None),
    ("match_aborted", []),
    ("match_aborted", {"reason": "bored"}),
    ("action", {"seat": 0, "action": {"type": "fly"}, "effects": []}),
    ("action", {"seat": 0, "action": {"type": "keep"}, "effects": [{"type": "wonder"}]}),
    ("action", {"seat": 0, "action": {"type": "keep"}, "effects": [], "mood": "good"}),
    ("action", {"seat": 0, "action": {"type": "keep"}, "effects": [{"type": "hand_kept", "seat": "0"}]}),
    ("default_action", {"seat": 0, "action": {"type": "keep"}, "effects": [], "reason": "bot-early"}),
    ("timer", {"label": "trick", "effects": [{"type": "game_ended", "why": 1}]}),
    ("match_started", {"effects": []}),
    ("match_started", {"draws": [{"label": "deck"}], "effects": []}),
    ("seat_enchanted", {"seat": 0}),
]


@pytest.mark.parametrize(("kind", "data"), NEWER)
def test_fields_reasons_and_types_of_a_newer_release_are_engine_too_old(kind: str, data: Any) -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", bots=("high",)))
    assert kind in refused("engine-too-old", one_more, match, kind, data).detail


def test_a_new_field_of_the_envelope_is_engine_too_old() -> None:
    arena = Arena()
    table = arena.toy("anna", bots=("high",))
    stored = arena.log.stored(table)
    match = begin(table, stored[0], {"toy": TOY})
    newer = canonical({**msgspec.json.decode(stored[1]), "trace": "new"})
    refused("engine-too-old", step, match, newer)
    refused("engine-too-old", begin, table, canonical({**msgspec.json.decode(stored[0]), "trace": "new"}), {"toy": TOY})
    with pytest.raises(Corrupt):
        step(match, newer.replace(b'"version":2', b'"version":3'))


def test_an_empty_seat_cannot_resign_or_be_handed_over() -> None:
    arena = Arena()
    match = arena.match(arena.create())
    for kind, more in (("resigned", {}), ("seat_handed_over", {"player": "ben", "kind": "human"})):
        with pytest.raises(Corrupt):
            one_more(match, kind, {"seat": 0, **more})


def test_effects_that_the_rules_cannot_apply_are_corrupt() -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", bots=("high",)))
    forged = {"seat": 0, "action": {"type": "keep"}, "effects": [{"type": "hand_kept", "seat": "x"}]}
    refused("engine-too-old", one_more, match, "action", forged)
    beyond = {"type": "card_committed", "seat": 9, "card": "1-1"}
    with pytest.raises(Corrupt, match=r"IndexError at [a-z_.]+:[0-9]+ in apply") as caught:
        one_more(match, "action", {"seat": 0, "action": {"type": "keep"}, "effects": [beyond]})
    assert caught.value.fault == location(caught.value.__cause__ or caught.value)


@pytest.mark.parametrize(
    "effects",
    [
        [{"type": "the hidden 7-1"}],
        [{"type": "card_committed", "seat": 0, "card": ["the hidden 7-1"]}],
        [{"type": "cards_swapped", "seat": 0, "the hidden 7-1": 1}],
    ],
)
def test_a_refusal_contains_no_values_of_the_event(effects: Any) -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", bots=("high",)))
    data = {"seat": 0, "action": {"type": "keep"}, "effects": effects}
    assert "hidden" not in refused("engine-too-old", one_more, match, "action", data).detail


CREATED: dict[str, Any] = {
    "game": "toy",
    "ruleset": 1,
    "options": {},
    "seats": 2,
    "clock": None,
    "private": False,
    "manual_start": False,
    "seed_commitment": "00",
}


NEW: Final = {**CREATED, "format": 2, "rated": False, "open_ms": 5_000, "bot_fallback": "bot"}


def first_event(data: Any, game: str = "toy") -> bytes:
    number = data.get("format", 1) if isinstance(data, dict) else 1
    head = genesis("table", game, 1, number if number in FORMATS else NEWEST_FORMAT)[1]
    return seal(head, [Draft("match_created", "player:host", canonical(data))], 5, ["0" * 32])[0][0]


def test_a_match_begins_with_the_values_of_its_first_event() -> None:
    match = begin("table", first_event(CREATED), {"toy": TOY})
    assert (match.id, match.creator, match.created_at, match.status) == ("table", "host", 5, "open")
    assert match.options == TOY.options(2, {})
    assert match.created.format_number == 1
    assert begin("table", first_event(NEW), {"toy": TOY}).created.format_number == 2


ONLY_IN_FORMAT_2: Final = [
    ("seat_freed", {"seat": 0}),
    ("abort_asked", {"seat": 0}),
    ("seat_handed_over", {"seat": 0, "player": "random", "kind": "bot", "reason": "clock"}),
    ("match_aborted", {"reason": "expired"}),
    ("match_aborted", {"reason": "agreed"}),
    ("seat_taken", {"seat": 1, "player": "bt_bot", "kind": "hosted", "owner": "anna", "limit_ms": 5_000}),
    ("default_action", {"seat": 0, "action": {"type": "keep"}, "effects": [], "reason": "bot-late"}),
]


@pytest.mark.parametrize(("kind", "data"), ONLY_IN_FORMAT_2)
def test_format_1_has_nothing_of_format_2(kind: str, data: Any) -> None:
    for number in (1, 2):
        arena = Arena()
        arena.format_number = number
        match = arena.match(arena.toy("anna", "ben"))
        with pytest.raises(Corrupt) if number == 1 else nullcontext():
            one_more(match, kind, data)


def test_format_2_has_a_reason_for_each_hand_over() -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", bots=("high",)))
    with pytest.raises(Corrupt):
        one_more(match, "seat_handed_over", {"seat": 0, "player": "random", "kind": "bot"})


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"\xff",
        ENDLESS,
        first_event({**CREATED, "seats": 1}),
        first_event({**CREATED, "seats": 10**15}),
        first_event({**CREATED, "seats": -1}),
        first_event({**CREATED, "options": {"hand": 99}}),
        first_event(CREATED, "chess"),
        first_event(CREATED)[:-1],
        b" " + first_event(CREATED),
    ],
)
def test_an_invalid_first_event_is_corrupt(stored: bytes) -> None:
    with pytest.raises(Corrupt) as caught:
        begin("table", stored, {"toy": TOY})
    assert caught.value.version == 1


@pytest.mark.parametrize(
    "data",
    [
        {**CREATED, "format": 2},
        {**CREATED, "rated": False},
        {**NEW, "format": 3},
        {**NEW, "format": 1},
        {**NEW, "open_ms": 0},
        {**NEW, "bot_fallback": "ban"},
        {**CREATED, "mood": "good"},
        {**CREATED, "clock": {"turn_seconds": 1.5}},
        {**CREATED, "clock": {"turn_seconds": 60, "on_timeout": "abort"}},
        [],
    ],
)
def test_a_first_event_of_a_newer_format_is_engine_too_old(data: object) -> None:
    refused("engine-too-old", begin, "table", first_event(data), {"toy": TOY})


def test_the_first_event_of_another_match_is_corrupt() -> None:
    with pytest.raises(Corrupt):
        begin("other", first_event(CREATED), {"toy": TOY})


@pytest.mark.parametrize("garbage", [b"", b"{}", b"\xff", ENDLESS, b'{"a":"\xff"}'])
def test_garbage_is_corrupt(garbage: bytes) -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", bots=("high",)))
    with pytest.raises(Corrupt) as caught:
        step(match, garbage)
    assert caught.value.version == match.head.version + 1
