"""Texts of refusals that do not come from a game's rules, in the same languages as the games' texts."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

import msgspec

from service.errors import Refused

TEXTS: Final[Mapping[str, Mapping[str, str]]] = msgspec.json.decode(
    files("service.match").joinpath("refusal_texts.json").read_bytes()
)
"""By language, then by problem code. A code with several reasons has a text for each: `not-seated.replaced`."""


def refused(reason: str, **facts: object) -> Refused:
    """A refusal with the text of its reason; `facts` fill the braces in the text."""
    details = {language: texts[reason].format_map(facts) for language, texts in TEXTS.items()}
    return Refused(reason.partition(".")[0], details, **facts)
