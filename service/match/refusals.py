"""Why a command is refused before the rules are asked, in the same languages as they."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

import msgspec

from service.errors import Refused

TEXTS: Final[Mapping[str, Mapping[str, str]]] = msgspec.json.decode(
    files("service.match").joinpath("refusal_texts.json").read_bytes()
)
"""By language, then by code and, where a code may have several reasons, by reason: `not-seated.replaced`."""


def refused(reason: str, **facts: object) -> Refused:
    """A refusal for one of the reasons that have texts; what stands in braces there is one of the facts."""
    details = {language: texts[reason].format_map(facts) for language, texts in TEXTS.items()}
    return Refused(reason.partition(".")[0], details, **facts)
