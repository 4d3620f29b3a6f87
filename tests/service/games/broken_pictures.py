"""The toy game with faulty pictures: they leak hidden data, contain forbidden markup, or name elements wrongly."""

from itertools import count
from typing import Final

from msgspec.structs import replace as alter

from service.games.drawing.page import Picture
from service.games.drawing.svg import Element, group, path, text
from service.games.drawing.words import Words
from service.games.protocol import Outcome
from service.games.visibility import Viewer
from tests.service.games import laws_of_pictures
from tests.service.games.broken import Fault, fault
from tests.service.games.toy.picture import picture
from tests.service.games.toy.view import Observation

NUMBERS: Final = count()
HANDS: dict[int, tuple[str, ...]] = {}


def with_elements(
    *elements: Element, seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None
) -> Picture:
    """The toy's picture with additional elements."""
    drawn = picture(seen, viewer, words, outcome)
    return drawn._replace(body=(*drawn.body, *elements))


def draws_a_counter(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    number = text(0, 0, next(NUMBERS), "label")
    return with_elements(number, seen=seen, viewer=viewer, words=words, outcome=outcome)


def draws_data_of_another_viewer(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    if viewer is not None:
        HANDS[viewer] = seen.hand
    leaked = text(0, 0, str(HANDS.get(0)), "label")
    return with_elements(leaked, seen=seen, viewer=viewer, words=words, outcome=outcome)


def runs_a_script(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    script = Element("script", children=("alert(1)",))
    return with_elements(script, seen=seen, viewer=viewer, words=words, outcome=outcome)


def has_an_inline_style(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    styled = Element("g", shape=' style="fill:red"')
    return with_elements(styled, seen=seen, viewer=viewer, words=words, outcome=outcome)


def loads_an_external_file(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    loaded = Element("use", shape=' href="https://example.org/a.svg#a"')
    return with_elements(loaded, seen=seen, viewer=viewer, words=words, outcome=outcome)


def escapes_nothing(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    raw = path(words["title"], "edge")
    return with_elements(raw, seen=seen, viewer=viewer, words=words, outcome=outcome)


def numbers_cards_by_position(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    shown = picture(alter(seen, hand=()), viewer, words, outcome)
    hand = [
        group(element_id=f"hand-{index}", data={"card": card, "cards": card}) for index, card in enumerate(seen.hand)
    ]
    return shown._replace(body=(*shown.body, *hand))


def has_duplicate_attributes(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    duplicates = [group(data={"card": card, "cards": card}) for card in seen.hand]
    return with_elements(*duplicates, seen=seen, viewer=viewer, words=words, outcome=outcome)


def omits_a_card(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    return picture(alter(seen, hand=seen.hand[1:]), viewer, words, outcome)


def draws_too_much(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    return with_elements(path("M0 0" * 20_000, "edge"), seen=seen, viewer=viewer, words=words, outcome=outcome)


_FOLLOWS = laws_of_pictures.law_a_picture_depends_only_on_the_observation
_PLAIN = laws_of_pictures.law_a_picture_is_plain_svg
_NAMES = laws_of_pictures.law_names_in_a_picture_are_unique
_ACTIONS = laws_of_pictures.law_a_picture_shows_the_values_of_legal_actions
_SMALL = laws_of_pictures.law_a_picture_is_small

FAULTS: Final[tuple[Fault, ...]] = (
    fault("draws a counter", _FOLLOWS, picture=draws_a_counter),
    fault("draws data of another viewer", _FOLLOWS, picture=draws_data_of_another_viewer),
    fault("runs a script", _PLAIN, picture=runs_a_script),
    fault("has an inline style", _PLAIN, picture=has_an_inline_style),
    fault("loads an external file", _PLAIN, picture=loads_an_external_file),
    fault("escapes nothing", _PLAIN, picture=escapes_nothing),
    fault("numbers cards by position", _NAMES, picture=numbers_cards_by_position),
    fault("has duplicate attributes", _NAMES, picture=has_duplicate_attributes),
    fault("omits a card", _ACTIONS, picture=omits_a_card),
    fault("draws too much", _SMALL, picture=draws_too_much),
)
