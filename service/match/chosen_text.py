"""The rule for text that a person chooses and that is part of a match of format 2, such as a client seed.

It is the FreeformClass of PRECIS (RFC 8264) without code points that are invisible. `service/VERIFYING.md` states it so that
other verifiers can check it. Format 1 only refuses control characters.
"""

import re
from typing import Final

import precis_i18n

from events.chain import NEWEST_FORMAT
from service.match.characters import BLANK, CONTROL

LONGEST: Final = 64
"""Maximum number of code points."""
IN_FORMAT_1: Final = re.compile(f"[^{CONTROL}]{{1,{LONGEST}}}")

_FREEFORM: Final = precis_i18n.get_profile("NicknameCasePreserved").base
_JOINERS: Final = frozenset("\u200c\u200d")
"""FreeformClass accepts them in some contexts, and they are invisible in all."""


def fault_of_text(text: str, format_number: int = NEWEST_FORMAT) -> str | None:
    """What is wrong with a text that a person chose, for a match of a format; None if nothing is."""
    if format_number == 1:
        fits = IN_FORMAT_1.fullmatch(text) is not None
        return None if fits else f"must have 1 to {LONGEST} characters, none of them a control character"
    if not 1 <= len(text) <= LONGEST:
        return f"must have 1 to {LONGEST} characters"
    unseen = next((character for character in text if character in BLANK | _JOINERS), None)
    try:
        _FREEFORM.enforce(text)
    except UnicodeEncodeError as error:
        unseen = text[error.start]
    return (
        None
        if unseen is None
        else f"must not contain U+{ord(unseen):04X}, which is invisible or not of the FreeformClass"
    )
