"""The texts of each game are complete in both languages, and the rules page has every clause."""

import re
from collections.abc import Iterable, Iterator, Mapping
from string import Formatter
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin, get_type_hints

import msgspec
import pytest

from service.games.ape_town import components as ape
from service.games.ape_town.effects import Step as ApeStep
from service.games.four_monkeys import components as four
from service.games.four_monkeys.effects import Ending
from service.games.kit.patterns import AnyOf, hint_fields
from service.games.monkeys_on_the_moon import components as monkeys
from service.games.monkeys_on_the_moon.effects import Deck, Turn
from service.games.monkeys_on_the_moon.effects import Step as MonkeysStep
from service.games.monsters_on_the_moon import components as monsters
from service.games.monsters_on_the_moon.edges import Orientation
from service.games.monsters_on_the_moon.effects import Step as MonstersStep
from service.games.protocol import AnyGame
from service.games.registry import GAMES

Clauses: TypeAlias = tuple[int | range, ...]

NAMED: Final[Mapping[str, Mapping[str, Iterable[object]]]] = {
    "ape_town": {
        "step": get_args(ApeStep),
        "tile": ape.ORDER,
        "colour": ape.BOX.track,
        "picture": ("supply", "field", "segment"),
    },
    "four_monkeys": {
        "step": ("play", "check", "round"),
        "figure": four.FIGURES,
        "colour": four.BOX.colours,
        "combo": four.BOX.kinds,
        "mode": ("redraw", "extra"),
        "ending": get_args(Ending),
        "picture": ("round", "seconds", "area", "checked", "replenish", "hand", "deck", "discards", "skins"),
    },
    "monkeys_on_the_moon": {
        "step": get_args(MonkeysStep),
        "tribe": monkeys.TRIBES,
        "with": ("coin", "scorn"),
        "ship": monkeys.BOX.ships,
        "deck": get_args(Deck),
        "picture": (
            "round",
            "allies",
            "rivals",
            "award",
            "pool",
            "auction",
            "no_bid",
            "ships",
            "monkeys",
            "civilization",
            "rockets",
            "coins",
            "scorn",
        ),
        "turn": get_args(Turn),
    },
    "monsters_on_the_moon": {
        "step": get_args(MonstersStep),
        "kind": get_args(monsters.Kind),
        "layout": monsters.BOX.layouts,
        "mission": monsters.BOX.missions,
        "card": ("M1", "M2", "ARM"),
        "rank": range(1, 6),
        "orientation": get_args(Orientation),
        "picture": (
            *(
                "pile",
                "place_card",
                "walls",
                "secret",
                "open",
                "interim",
                "hand",
                "gift",
                "missions",
                "turned",
                "length",
            ),
            *("cards", "ships", "plates", "track"),
        ),
    },
}
"""The names of each game besides those of its effects, actions, options and parts of a score."""

CLAUSES: Final[Mapping[str, tuple[str, Clauses]]] = {
    "ape_town": ("APE", (1, 2, range(10, 18), range(20, 23), range(30, 33))),
    "four_monkeys": ("FOU", (range(1, 5), range(10, 17), range(20, 25), range(30, 34))),
    "monkeys_on_the_moon": ("MOM", (range(1, 6), range(10, 18), range(20, 28), 30, range(40, 47), 50, 51)),
    "monsters_on_the_moon": (
        "MON",
        (range(1, 6), range(10, 15), range(20, 24), range(30, 33), 40, 41, range(60, 67), range(70, 73), range(80, 84)),
    ),
}

SENTENCES: Final = ("effect.", "action.", "step.", "refusal.", "option.", "breakdown.", "picture.")
"""Prefixes of keys that are not names."""

each_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def placeholders(text: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(text) if field}


def tag(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag)


def names_of(game: AnyGame) -> Iterator[str]:
    info = game.info
    own: Mapping[str, Iterable[object]] = {
        "effect": map(tag, info.effects),
        "action": map(tag, info.actions),
        "option": info.options.__struct_fields__,
        "breakdown": info.breakdown,
        **NAMED[info.id],
    }
    yield "title"
    yield from (f"{kind}.{name}" for kind, names in own.items() for name in names)


@each_game
@pytest.mark.parametrize("language", ["en", "de"])
def test_everything_that_has_a_name_has_a_text(game: AnyGame, language: str) -> None:
    assert {key for key in game.texts[language] if not key.startswith("refusal.")} == set(names_of(game))


@each_game
def test_both_languages_have_the_same_keys_and_placeholders(game: AnyGame) -> None:
    english, german = game.texts["en"], game.texts["de"]
    assert list(english) == list(german)
    assert all(placeholders(english[key]) == placeholders(german[key]) for key in english)


@pytest.mark.parametrize(
    ("game", "prefix", "kind"),
    [
        pytest.param(game, prefix, kind, id=f"{name}-{prefix}.{tag(kind)}")
        for name, game in GAMES.items()
        for prefix, kinds in (("effect", game.info.effects), ("action", game.info.actions))
        for kind in kinds
    ],
)
def test_texts_of_effects_use_public_fields_and_texts_of_actions_use_chosen_ones(
    game: AnyGame, prefix: str, kind: Any
) -> None:
    hidden = kind.hidden if prefix == "effect" else ()
    fields = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    used = placeholders(game.texts["en"][f"{prefix}.{tag(kind)}"])
    assert used <= {written for written, field in fields.items() if field not in hidden}
    types = get_type_hints(kind, include_extras=True)
    for language, texts in game.texts.items():
        names = {key.partition(".")[2] for key in texts if not key.startswith(SENTENCES)}
        for field in used - {"step"}:
            raw = [value for value in choices(types[fields[field]]) if f"{field}.{value}" not in texts]
            assert set(raw) <= names, f"{language}: {prefix}.{tag(kind)} has no words for {raw}"


@each_game
def test_the_text_of_an_action_has_every_field_that_distinguishes_it(game: AnyGame) -> None:
    actions: tuple[Any, ...] = game.info.actions
    for kind in actions:
        types = get_type_hints(kind, include_extras=True)
        fields = zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True)
        # A pattern represents many choices, and legal lists omit hints, so texts name neither.
        open_ = {name for name, hint in types.items() if AnyOf in parts(hint)} | hint_fields(kind)
        chosen = {written for written, field in fields if field not in open_}
        assert placeholders(game.texts["en"][f"action.{tag(kind)}"]) == chosen


def parts(hint: Any) -> Iterator[Any]:
    """A type and all types nested in it."""
    yield hint
    for part in get_args(hint):
        yield from parts(part)


def choices(hint: Any) -> Iterator[str]:
    """The literal strings that a type allows."""
    for part in parts(hint):
        if get_origin(part) is Literal:
            yield from (value for value in get_args(part) if isinstance(value, str))


@each_game
def test_the_rules_have_every_clause_once_and_in_order(game: AnyGame) -> None:
    letters, clauses = CLAUSES[game.info.id]
    expected = [number for part in clauses for number in (part if isinstance(part, range) else (part,))]
    assert [int(number) for number in re.findall(rf"^- \*\*{letters}-(\d+)\*\*", game.rules, re.MULTILINE)] == expected


@each_game
def test_the_title_is_that_of_the_game_and_tags_are_distinct(game: AnyGame) -> None:
    assert game.texts["en"]["title"] == game.info.title
    assert len(game.info.effects) == len({tag(effect) for effect in game.info.effects})
