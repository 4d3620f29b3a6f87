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


def draws_what_others_saw(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    if viewer is not None:
        HANDS[viewer] = seen.hand
    peeked = text(0, 0, str(HANDS.get(0)), "label")
    return with_elements(peeked, seen=seen, viewer=viewer, words=words, outcome=outcome)


def runs_a_script(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    script = Element("script", children=("alert(1)",))
    return with_elements(script, seen=seen, viewer=viewer, words=words, outcome=outcome)


def has_a_style_of_its_own(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    styled = Element("g", shape=' style="fill:red"')
    return with_elements(styled, seen=seen, viewer=viewer, words=words, outcome=outcome)


def loads_from_elsewhere(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    loaded = Element("use", shape=' href="https://example.org/a.svg#a"')
    return with_elements(loaded, seen=seen, viewer=viewer, words=words, outcome=outcome)


def escapes_nothing(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    raw = path(words["title"], "edge")
    return with_elements(raw, seen=seen, viewer=viewer, words=words, outcome=outcome)


def numbers_its_cards(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    shown = picture(alter(seen, hand=()), viewer, words, outcome)
    hand = [
        group(element_id=f"hand-{index}", data={"card": card, "cards": card}) for index, card in enumerate(seen.hand)
    ]
    return shown._replace(body=(*shown.body, *hand))


def calls_two_things_the_same(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    duplicates = [group(data={"card": card, "cards": card}) for card in seen.hand]
    return with_elements(*duplicates, seen=seen, viewer=viewer, words=words, outcome=outcome)


def leaves_out_a_card(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    return picture(alter(seen, hand=seen.hand[1:]), viewer, words, outcome)


def draws_too_much(seen: Observation, viewer: Viewer, words: Words, outcome: Outcome | None) -> Picture:
    return with_elements(path("M0 0" * 20_000, "edge"), seen=seen, viewer=viewer, words=words, outcome=outcome)


_FOLLOWS = laws_of_pictures.law_a_picture_follows_from_what_is_seen
_PLAIN = laws_of_pictures.law_a_picture_is_plain_svg
_NAMES = laws_of_pictures.law_names_on_a_picture_mean_one_thing
_ACTIONS = laws_of_pictures.law_what_an_action_names_is_on_the_picture
_SMALL = laws_of_pictures.law_a_picture_is_small

FAULTS: Final[tuple[Fault, ...]] = (
    fault("draws a number of its own", _FOLLOWS, picture=draws_a_counter),
    fault("draws what others saw", _FOLLOWS, picture=draws_what_others_saw),
    fault("runs a script", _PLAIN, picture=runs_a_script),
    fault("has a style of its own", _PLAIN, picture=has_a_style_of_its_own),
    fault("loads from elsewhere", _PLAIN, picture=loads_from_elsewhere),
    fault("escapes nothing", _PLAIN, picture=escapes_nothing),
    fault("numbers its cards", _NAMES, picture=numbers_its_cards),
    fault("calls two things the same", _NAMES, picture=calls_two_things_the_same),
    fault("leaves out a card", _ACTIONS, picture=leaves_out_a_card),
    fault("draws too much", _SMALL, picture=draws_too_much),
)
