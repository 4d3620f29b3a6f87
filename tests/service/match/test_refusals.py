"""Why a command is refused, in each language."""

import re
from pathlib import Path
from typing import Final

from service.match import texts
from service.match.refusals import TEXTS, refused
from tests.service.games.test_texts import placeholders

ROOT: Final = Path(__file__).parents[3]


def test_every_reason_has_a_text_in_every_language_and_every_text_a_reason() -> None:
    assert tuple(TEXTS) == texts.LANGUAGES
    sources = [path.read_text(encoding="utf-8") for part in ("service", "api") for path in (ROOT / part).rglob("*.py")]
    reasons = set(re.findall(r'\brefused\("([a-z.-]+)"', "".join(sources)))
    for words in TEXTS.values():
        assert words.keys() == reasons
        assert all(text[0].isupper() and text[-1] == "." for text in words.values())
        assert [placeholders(text) for text in words.values()] == [placeholders(text) for text in TEXTS["en"].values()]
    assert all(TEXTS["en"][reason] != TEXTS["de"][reason] for reason in reasons)


def test_the_text_of_a_refusal_contains_its_facts() -> None:
    refusal = refused("not-your-seat", seat=2)
    assert (refusal.code, refusal.facts) == ("not-your-seat", {"seat": 2})
    assert (refusal.detail, refusal.details["de"]) == (
        "Your seat in this match is 2.",
        "Dein Platz in dieser Partie ist 2.",
    )
    assert refused("not-seated.replaced").code == "not-seated"
