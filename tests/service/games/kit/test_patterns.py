from typing import Annotated

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.games.kit.patterns import HINT, AnyOf, hint_fields, is_listed, sample_action
from service.games.visibility import Action, Public, Seat
from tests.service.games.matches import draws

HAND = ("a", "b", "c")


class Grab(Action, frozen=True, tag="grab"):
    stack: Public[int]
    cards: Public[tuple[str, ...] | AnyOf]
    draw_from: Public[Annotated[Seat | None, HINT]] = None


class Wave(Action, frozen=True, tag="wave"):
    pass


LEGAL = (Wave(), Grab(1, AnyOf(HAND, 1, 2)), Grab(2, ("a", "b")))


@pytest.mark.parametrize(
    ("action", "found"),
    [
        (Wave(), True),
        (Grab(1, ("a",)), True),
        (Grab(1, ("c", "a")), True),
        (Grab(1, ("a",), draw_from=3), True),
        (Grab(2, ("a", "b"), draw_from=3), True),
        (Grab(2, ("a",)), False),
        (Grab(3, ("a",)), False),
        (Grab(1, ()), False),
        (Grab(1, HAND), False),
        (Grab(1, ("a", "a")), False),
        (Grab(1, ("z",)), False),
        (Grab(1, AnyOf(HAND, 1, 2)), False),
    ],
)
def test_a_list_contains_the_actions_of_its_patterns_with_any_hints(action: Action, found: bool) -> None:
    assert is_listed(action, iter(LEGAL)) is found


def test_hints_are_declared_on_the_field() -> None:
    assert hint_fields(Grab) == {"draw_from"}
    assert hint_fields(Wave) == frozenset()


@settings(max_examples=30)
@given(st.sets(st.text(max_size=3), max_size=6), st.data())
def test_a_sampled_action_is_allowed_by_its_pattern(items: set[str], data: st.DataObject) -> None:
    most = data.draw(st.integers(0, len(items)))
    least = data.draw(st.integers(0, most))
    pattern = AnyOf(tuple(sorted(items)), least, most)
    action = sample_action(Grab(1, pattern, draw_from=2), "cards", draws(data.draw(st.text())))
    assert pattern.allows(action.cards)
    assert is_listed(action, [Grab(1, pattern)])
    assert (action.stack, action.draw_from) == (1, 2)


def test_an_action_without_a_pattern_is_sampled_unchanged() -> None:
    assert sample_action(Grab(2, ("a", "b")), "cards", draws("")) == Grab(2, ("a", "b"))


def test_json_distinguishes_a_pattern_from_a_choice() -> None:
    decode = msgspec.json.Decoder(Grab, strict=True).decode
    for action in (Grab(1, ("a",)), Grab(1, AnyOf(HAND, 1, 3), draw_from=0)):
        assert decode(msgspec.json.encode(action)) == action
    assert msgspec.to_builtins(AnyOf(HAND, 1, 3)) == {"any_of": HAND, "min": 1, "max": 3}
