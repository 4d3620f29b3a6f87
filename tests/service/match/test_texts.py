"""Texts of events, for every game, viewer and language, without hidden information."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, get_args

import msgspec
import pytest

from service.automation.bot_turns import suspend
from service.games.protocol import AnyGame, IllegalAction
from service.games.registry import GAMES
from service.match import texts
from service.match.events import AbortReason, DefaultReason
from service.match.redaction import SeenEvent, legal_actions, see_decisions
from service.match.transitions import transitions
from tests.length import LONG
from tests.service.arena import Arena
from tests.service.games.words import raw_words

pytestmark = pytest.mark.unmeasured  # many matches or positions; other tests cover the same lines

VIEWERS: Final = (None, 0, 1)
OTHER_KEYS: Final = {"hidden", "nothing", "legal", "others", "reason", "yes", "no"}
"""Keys that are not types of events."""
TABLES: Final[Sequence[tuple[str, int, Mapping[str, object]]]] = (
    ("ape_town", 2, {}),
    ("four_monkeys", 2, {"banana_skins": True}),
    ("monkeys_on_the_moon", 2, {"treachery": True, "maximum_scorn": True}),
    ("monsters_on_the_moon", 1, {}),
    ("monsters_on_the_moon", 2, {"missions": "secret", "walls": True}),
    ("monsters_on_the_moon", 3, {"missions": "open"}),
)
UNNAMED: Final[Mapping[str, str]] = {"ape_town": r"\d-\d|D\d", "monsters_on_the_moon": r"[AB]\d\d|[xy]"}
"""By game: a pattern of the ids that have no name, such as fields of the board."""
each_table = pytest.mark.parametrize(("game", "seats", "options"), TABLES)


def played(game: str, seats: int, options: Mapping[str, object]) -> tuple[Arena, str]:
    """A match of bots that is over. It is played once, and no test changes it."""
    return _played(game, seats, tuple(options.items()))


@cache
def _played(game: str, seats: int, options: tuple[tuple[str, object], ...]) -> tuple[Arena, str]:
    arena = Arena(GAMES[game])
    match = arena.create(game, seats, bots=("random",) * seats, options=dict(options))
    arena.play_out(match)
    return arena, match


def events(arena: Arena, match_id: str, viewer: int | None) -> Iterator[SeenEvent]:
    yield from arena.ports.history.events(arena.match(match_id), viewer, 0, 10_000)


@each_table
def test_every_event_of_a_match_has_a_text_in_every_language(
    game: str, seats: int, options: Mapping[str, object]
) -> None:
    arena, match = played(game, seats, options)
    for viewer in VIEWERS[: seats + 1]:
        for event in events(arena, match, viewer):
            found = [str(texts.with_text(GAMES[game], language, event).text) for language in texts.LANGUAGES]
            assert found[0] != found[1]
            for text in found:
                assert text[-1] in ".!?"
                assert not {"{", "}"} & set(text)
                assert ".." not in text


def test_every_game_is_in_these_tests() -> None:
    assert {game for game, _, _ in TABLES} == set(GAMES)


def check_words(game: AnyGame, language: str, kind: str, text: str, fields: Mapping[str, Any]) -> None:
    """A text contains no identifier of the protocol for which the game has a name."""
    key, without = f"{kind}.{fields['type']}", UNNAMED.get(game.info.id, "(?!)")
    assert not raw_words(game.texts[language], key, text, fields, without), text


def test_ids_are_replaced_by_names_and_lists_have_commas() -> None:
    arena = Arena(GAMES["monkeys_on_the_moon"])
    match = arena.match(arena.monkeys("anna", "ben"))
    found = texts._Texts("de", match.game.texts["de"])
    assert found.effect({"type": "scorn_taken", "seat": 1, "tribe": "red"}).count("Rot") == 1
    assert found.effect({"type": "monkeys_revealed", "cards": ["a", "b"]}).endswith("a, b.")
    assert found.effect({"type": "decision_opened", "seat": 0, "step": "bid"}).count(".") == 1
    assert texts._EVENT_TEXTS["de"]["hidden"] in found.effect({"type": "scorn_taken", "seat": 1})


def test_texts_contain_no_hidden_information() -> None:
    arena = Arena(GAMES["monkeys_on_the_moon"])
    table = arena.monkeys("anna", "ben")
    match = arena.match(table)
    for viewer in VIEWERS:
        for event in events(arena, table, viewer):
            found = texts.with_text(match.game, "en", event)
            again = texts.with_text(match.game, "en", msgspec.structs.replace(event, salt="", redacted=True))
            assert found.text == again.text
            assert msgspec.structs.replace(found, text=msgspec.UNSET) == event


def test_every_type_of_event_has_words_in_every_language() -> None:
    kinds = {"match_created", *transitions(GAMES["ape_town"])} - {"action"}
    for language in texts.LANGUAGES:
        assert {key.partition(".")[0] for key in texts._EVENT_TEXTS[language]} - OTHER_KEYS == kinds
        assert texts._EVENT_TEXTS[language].keys() == texts._EVENT_TEXTS[texts.DEFAULT].keys()


def test_an_event_without_a_text_of_an_effect_has_the_text_of_its_action() -> None:
    arena = Arena(GAMES["monkeys_on_the_moon"])
    match = arena.match(arena.monkeys("anna", "ben"))
    data = msgspec.Raw(b'{"seat":0,"action":{"type":"pass"},"effects":[]}')
    event = SeenEvent(match.id, 9, "action", 1, "seat:0", data, "", "")
    assert texts.with_text(match.game, "en", event).text == match.game.texts["en"]["action.pass"]


def test_the_text_of_a_suspension_has_its_reason() -> None:
    arena = Arena(GAMES["monkeys_on_the_moon"])
    table = arena.monkeys("anna", "ben")
    suspend(arena.ports, arena.match(table), "KeyError")
    *_, last = events(arena, table, None)
    assert "KeyError" in str(texts.with_text(arena.match(table).game, "en", last).text)


def test_a_decision_has_the_text_of_its_step() -> None:
    arena = Arena(GAMES["ape_town"])
    table = arena.join(arena.create("ape_town", 2), "anna", "ben")
    match = arena.match(table)
    (decision,) = texts.decisions_with_text(match.game, "de", see_decisions(match, None))
    assert decision.text == match.game.texts["de"][f"step.{decision.step}"]


@pytest.mark.long
@each_table
def test_each_legal_action_of_a_whole_match_has_its_own_text_in_every_language(
    game: str, seats: int, options: Mapping[str, object]
) -> None:
    """In the short form, at every fourth version."""
    arena, table = played(game, seats, options)
    count = 0
    for version in range(1, arena.version(table), 1 if LONG else 4):
        match = arena.ports.history.at(table, version)
        for seat in range(seats):
            actions = legal_actions(match, seat)
            for language in texts.LANGUAGES:
                found = texts.action_texts(match.game, language, actions)
                assert len(found) == len(set(found)) == len(actions)
                assert all(text[-1] in ".!" and "{" not in text and "any_of" not in text for text in found)
                made_again = texts._texts(match.game, language).action
                for action, text in zip(actions, found, strict=True):
                    assert text == made_again(msgspec.to_builtins(action))
                    check_words(match.game, language, "action", text, msgspec.to_builtins(action))
                count += len(found)
    assert count


def test_only_so_many_texts_of_actions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_KEPT_ACTIONS", 2)
    texts._texts.cache_clear()
    arena = Arena(GAMES["ape_town"])
    table = arena.join(arena.create("ape_town", 2), "anna", "ben")
    match = arena.match(table)
    actions = [action for seat in range(2) for action in legal_actions(match, seat)]
    assert len(actions) > 2
    first = texts.action_texts(match.game, "de", actions)
    assert texts.action_texts(match.game, "de", actions) == first
    assert len(texts._texts(match.game, "de")._actions) <= 2


@each_table
def test_texts_of_effects_use_names_instead_of_identifiers(
    game: str, seats: int, options: Mapping[str, object]
) -> None:
    arena, match = played(game, seats, options)
    for language in texts.LANGUAGES:
        words = texts._Texts(language, GAMES[game].texts[language])
        for event in events(arena, match, 0):
            for effect in msgspec.json.decode(event.data).get("effects", ()):
                check_words(GAMES[game], language, "effect", words.effect(effect), effect)


def test_names_with_numbers_are_shown_and_only_empty_values_are_nothing() -> None:
    words = texts._Texts("en", GAMES["ape_town"].texts["en"])
    values: list[object] = [{"a": 1, "b": 2}, {}, [], (), None, 0, ""]
    found = [words.phrase("counts", value) for value in values]
    assert found == ["a: 1, b: 2", "nothing", "nothing", "nothing", "nothing", "0", ""]


def test_identifiers_are_explained_in_words() -> None:
    four, moon = (texts._Texts("en", GAMES[game].texts["en"]) for game in ("four_monkeys", "monsters_on_the_moon"))
    assert four.phrase("combos", ["K07-2", "K01-1"]) == "Five of a kind (K07-2), Four cards of one colour (K01-1)"
    assert four.phrase("now", "K07-2") == "Five of a kind (K07-2)"
    assert four.phrase("card", "1:circle-square-4") == "Circle Square (1:circle-square-4)"
    assert [four.phrase("correct", value) for value in (True, False)] == ["yes", "no"]
    assert moon.phrase("squares", [{"x": 4, "y": 3}, {"x": 5, "y": 3}]) == "x: 4, y: 3; x: 5, y: 3"
    assert moon.phrase("rank", 5) == "Rank 5 of 5. The moon belongs to the vampire"
    assert moon.phrase("seat", 5) == "5"
    left = texts._Texts("de", {}).event("default_action", {"seat": 1, "reason": "player-left"}, "worker")
    assert left == "Der Dienst handelt für Platz 1 (die Person hat die Partie verlassen)."


def test_the_text_of_a_card_has_its_kind_and_its_name() -> None:
    words = texts._Texts("en", GAMES["monkeys_on_the_moon"].texts["en"])
    played, up, ship = (
        words.action({"type": kind, "card": card, "tribe": "blue"})
        for kind, card in (
            ("play_civilization", "black-3-2"),
            ("select_monkey", "black-3-2"),
            ("choose_ship", "black-3"),
        )
    )
    assert played == "Play the Civilization card Black 3 (black-3-2) and advance Blue."
    assert (up, ship) == ("Put up the monkey Black 3 (black-3-2).", "Choose the ship Black for 3 monkeys.")
    not_cards = ["", "-", "3-2", "black", "black-", "-2", "pink-3-2", "black-x", ":-1", "1", "black--1"]
    assert [words.phrase("card", one) for one in not_cards] == [*not_cards[:3], "Black", *not_cards[4:]]


def test_the_texts_of_leaving_and_of_running_out_of_time_differ() -> None:
    arena = Arena(GAMES["monkeys_on_the_moon"])
    clock = {"turn_seconds": 20, "on_timeout": "resign"}
    left, late = (
        arena.join(arena.create("monkeys_on_the_moon", clock=clock), "anna", "ben")
        for _ in ("anna leaves", "the clock")
    )
    arena.leave(left, "anna")
    seat = arena.match(late).decisions()[0].seat
    arena.ring(late)
    found = [
        str(texts.with_text(GAMES["monkeys_on_the_moon"], language, event).text)
        for table in (left, late)
        for event in events(arena, table, None)
        if event.type == "resigned"
        for language in texts.LANGUAGES
    ]
    assert found == [
        "The player in seat 0 leaves the match.",
        "Platz 0 verlässt die Partie.",
        f"The time of seat {seat} ran out, or its bot failed: its player is out of the match.",
        f"Die Zeit von Platz {seat} war um, oder sein Bot versagte: Wer ihn hatte, ist aus der Partie.",
    ]


def test_every_reason_that_the_service_gives_has_words() -> None:
    reasons = {*get_args(DefaultReason), *get_args(AbortReason), "outage"}
    for language in texts.LANGUAGES:
        assert {key.partition(".")[2] for key in texts._EVENT_TEXTS[language] if key.startswith("reason.")} == reasons


def test_a_refusal_has_a_text_in_every_language() -> None:
    refusal = IllegalAction("no-coin-to-pay", "MOM-13", tribe="red")
    found = texts.refusal_texts(GAMES["monkeys_on_the_moon"], refusal)
    assert (set(found), "Red" in found["en"], "Rot" in found["de"]) == (set(texts.LANGUAGES), True, True)
