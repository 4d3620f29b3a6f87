"""Names of players: the Nickname profile of PRECIS (RFC 8266, RFC 8264), so that every character of a name is visible.

Names are normalised to NFC, where RFC 8266 has NFKC. NFKC would change how names look: it splits the Thai and Lao sara am
("น้ำ") and replaces the Korean letters of "ㅋㅋ" by letters that the profile refuses.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import precis_i18n

from service.match.characters import BLANK

LONGEST: Final = 40
"""Maximum number of code points in a name."""
GENERAL_MARKS: Final = 2
"""Maximum number of marks on one base that fit any letter, such as accents (Unicode names them COMBINING …).

A letter that NFC composes, such as "ế", is a base without marks.
"""
MARKS: Final = 4
"""Maximum number of nonspacing marks of all kinds on one base (UTS #39, 5.4). Burmese needs four, as in "လျှို့"."""

_IN_CONTEXT: Final = re.compile(
    # Persian and Urdu: a non-joiner also after letters that do not join, where the profile refuses it.
    "(?<=[\u0620-\u06ff\u0750-\u077f])\u200c(?=[\u0620-\u06ff\u0750-\u077f])"
    # Bengali and Kannada: ra with ya-phalaa has its joiner before the virama (The Unicode Standard, chapter 12).
    "|(?<=[\u09b0\u0cb0])\u200d(?=[\u09cd\u0ccd])"
    # Mongolian: the vowel separator, and one variation selector for a letter.
    "|(?<=[\u1820-\u1878\u1880-\u18aa])[\u180b-\u180f]"
    # Chinese: the dot between the parts of a name, which the profile accepts only in Catalan.
    r"|(?<=\w)\u00b7(?=\w)"
)
"""Characters that names need although the profile refuses them, each only in the context of its script."""
_STAND_IN: Final = "*"
"""Replaces each code point that needs no further check, so that the positions of all others stay the same."""

_PROFILE: Final = precis_i18n.get_profile("NicknameCasePreserved")


class BadName(ValueError):
    """A text that cannot be a name. The message says which code point is at fault and why."""


def parse_name(text: str) -> str:
    """The name as it is stored: in NFC, with single spaces inside and no spaces at its ends.

    Raises:
        BadName: it is empty or too long, or contains an invisible character, or too many marks on one base.
    """
    name = unicodedata.normalize("NFC", _PROFILE.additional_mapping_rule(text))
    if not 1 <= len(name) <= LONGEST:
        raise BadName(f"Must have 1 to {LONGEST} characters besides the spaces at its ends.")
    text = _without_emoji(name)
    _check_characters(text)
    _check_marks(text)
    return name


def _without_emoji(text: str) -> str:
    """The text with each emoji that Unicode lists replaced by stand-ins, including its joiners and selectors."""
    import emoji  # noqa: PLC0415  (its data takes 10 ms, and few processes check names)

    characters = list(text)
    for found in emoji.emoji_list(text):
        start, end = found["match_start"], found["match_end"]
        characters[start:end] = _STAND_IN * (end - start)
    return "".join(characters)


def _check_characters(text: str) -> None:
    """Check that the profile accepts each code point, and that none is invisible."""
    try:
        _PROFILE.base.enforce(_IN_CONTEXT.sub(_STAND_IN, text))
    except UnicodeEncodeError as error:
        raise BadName(f"Contains {_code_point(text[error.start])}, which {_why_not(error.reason)}.") from None
    for character in text:
        if character in BLANK:
            raise BadName(f"Contains {_code_point(character)}, which cannot be seen.")


def _why_not(reason: str) -> str:
    """What is wrong with a code point, from the reason that the profile gives."""
    match reason.removeprefix("DISALLOWED/"):
        case "precis_ignorable_properties" | "controls":
            return "cannot be seen"
        case "zero_width_joiner" | "zero_width_nonjoiner":
            return "cannot be seen at this position"
        case "unassigned":
            return "is not assigned to a character"
        case "old_hangul_jamo" | "exceptions" | "other":
            return "names may not contain"
        case _:
            return "is allowed only where its script needs it"


def _check_marks(text: str) -> None:
    """Check that each mark has a base, is not repeated directly, and that no base has too many marks."""
    for base, marks in _marked(text):
        if base in {"", " "}:
            raise BadName(f"Contains {_code_point(marks[0])} without a character before it that it could be on.")
        general = [mark for mark in marks if unicodedata.name(mark, "").startswith("COMBINING ")]
        for mark in (*general[GENERAL_MARKS:], *marks[MARKS:]):
            raise BadName(f"Contains {_code_point(mark)}, which is one mark too many on {_code_point(base)}.")
        for mark, following in pairwise(marks):
            if mark == following:
                raise BadName(f"Contains {_code_point(mark)} twice on {_code_point(base)}.")


def _marked(text: str) -> Iterator[tuple[str, str]]:
    """Each base that has nonspacing marks, with its marks; the base is empty at the start of the text."""
    base, marks = "", ""
    for character in text:
        match unicodedata.category(character):
            case "Mn" | "Me":
                marks += character
            case "Mc":
                pass  # a spacing mark: it may come between the nonspacing marks of its base
            case _:
                if marks:
                    yield base, marks
                base, marks = character, ""
    if marks:
        yield base, marks


def _code_point(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}{name and f' ({name})'}"
