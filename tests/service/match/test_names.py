"""Every character of a name can be seen, and the names of every script pass."""

import unicodedata
from typing import Final

import emoji
import pytest

from service.match.names import BadName, parse_name

NAMES: Final = (
    "Ada", "A", "x" * 40, "Ωmega", "Mr. O'Neill-Smith", "O’Neill", "<b>", "¯\\_(ツ)_/¯", "Acme™", "Łódź", "João",
    "Nguyễn Thị Ánh", "Ẹ̀kọ́", "ḵ̓", "ᾅδης", "ǃXóõ", "Gal·la", "Ćirić", "Дмитрий", "ქართული", "հայերեն", "አማርኛ", "ᏣᎳᎩ",
    "한국", "ㅋㅋ", "ジョン・スミス", "かﾞ", "约翰·史密斯", "迪丽热巴·迪力木拉提",
    "น้ำ", "น้ำหวาน", "ณัฐ์", "ສຸກສຳລານ", "ស្ត្រី", "မြို့", "လျှို့", "སྐྱོང", "ཧཱུྃ",
    "محمّد", "عبد الرَّحْمَٰن", "اللَّٰه", "علی‌رضا", "امیر‌علی", "فاطمہ‌الزہرا", "٣٤", "הַשַּׁבָּת", "ג׳ורג׳", "ܣܘܪܝܝܐ", "ދިވެހި",
    "ज़ुंबा", "क्‍षितिज", "राज्‌य", "রহমান", "র‍্যাচেল", "ಶ್ರೀ", "ರ‍್ಯಾಂಕ್", "ക്‍", "தமிழ்", "ਗੁਰਪ੍ਰੀਤ", "ශ්‍රීමත්",
    "ᠮᠣᠩᠭᠣᠯ", "ᠰᠠᠷ᠎ᠠ", "ⵜⵉⴼⵉⵏⴰⵖ",
    "Ada 🌙", "👩‍💻", "❤️", "1️⃣", "👍🏽", "🇩🇪", "🏳️‍🌈", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🫨",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_any_script_is_kept_as_it_was_sent(name: str) -> None:
    for form in ("NFC", "NFD"):
        assert parse_name(unicodedata.normalize(form, name)) == unicodedata.normalize("NFC", name)


def test_every_emoji_is_a_name() -> None:
    for one, facts in emoji.EMOJI_DATA.items():
        if facts["status"] <= emoji.STATUS["fully_qualified"]:
            assert parse_name(one) == one


@pytest.mark.parametrize(
    ("sent", "expected"),
    [("  Ada\u3000 Lovelace\u00a0", "Ada Lovelace"), ("\u2003Ada", "Ada"), ("a" * 40 + " ", "a" * 40)],
)
def test_spaces_are_collapsed_between_words_and_removed_at_the_ends(sent: str, expected: str) -> None:
    assert parse_name(sent) == expected


REFUSED: Final = {
    "": "1 to 40 characters",
    " \u3000\u00a0": "1 to 40 characters",
    "x" * 41: "1 to 40 characters",
    "\ufb2c" * 14: "1 to 40 characters",  # three characters each in NFC
    "a\nb": "U+000A, which cannot be seen",
    "\x85": "U+0085, which cannot be seen",
    "\u00ad": r"U+00AD (SOFT HYPHEN), which cannot be seen",
    "\u034f": "U+034F",
    "\u061c": "U+061C (ARABIC LETTER MARK), which cannot be seen",
    "\u115f": "U+115F",
    "\u17b4": "U+17B4",
    "\u180e": "U+180E",
    "ᠠ\u180b\u180b": "U+180B",
    "Ada\u200b": "U+200B (ZERO WIDTH SPACE), which cannot be seen",
    "a\u200cb": "U+200C (ZERO WIDTH NON-JOINER), which cannot be seen at this position",
    "علی\u200c": "U+200C",
    "ا\u200c\u200cب": "U+200C",
    "a\u200db": "U+200D (ZERO WIDTH JOINER), which cannot be seen at this position",
    "👩\u200d🐧": "U+200D",  # no emoji that Unicode lists, so drawn as two
    "\u200e": "U+200E",
    "\u2028": "U+2028 (LINE SEPARATOR), which names may not contain",
    "a\u202eb": "U+202E",
    "\u2060x": "U+2060",
    "\u2066x": "U+2066",
    "\u2800": "U+2800 (BRAILLE PATTERN BLANK), which cannot be seen",
    "❤\ufe0e": "U+FE0E",
    "🌙\ufe0f": "U+FE0F",
    "a\ufe0f": "U+FE0F",
    "\u3164": "U+3164 (HANGUL FILLER), which cannot be seen",
    "\ue000": "U+E000, which names may not contain",
    "\ufdd0": "U+FDD0, which cannot be seen",
    "\ufeffAda": "U+FEFF (ZERO WIDTH NO-BREAK SPACE), which cannot be seen",
    "\uffa0": "U+FFA0",
    "\ufffc": "U+FFFC",
    "\ufffe": "U+FFFE, which cannot be seen",
    "\U0001ffff": "U+1FFFF, which cannot be seen",
    "\U0001d159": "U+1D159",
    "\U000e0067": "U+E0067",
    "\u0378": "U+0378, which is not assigned to a character",
    "·Ada": "U+00B7 (MIDDLE DOT), which is allowed only where its script needs it",
    "\u0301Ada": "U+0301 (COMBINING ACUTE ACCENT) without a character before it",
    "Ada \u0e47": "U+0E47 (THAI CHARACTER MAITAIKHU) without a character before it",
    "q" + "\u0301\u0302\u0303": "U+0303 (COMBINING TILDE), which is one mark too many on U+0071 (LATIN SMALL LETTER Q)",
    "a" + "\u0301" * 39: "one mark too many on U+00E1",
    "q\u0301\u0301": "U+0301 (COMBINING ACUTE ACCENT) twice on U+0071",
    "ก็็": "U+0E47 (THAI CHARACTER MAITAIKHU) twice on U+0E01",
    "ก็่้๊๋": "one mark too many on U+0E01",
    "👍\u0300\u0301\u0302": "U+0302",
}


@pytest.mark.parametrize(("name", "reason"), REFUSED.items(), ids=map(ascii, REFUSED))
def test_an_invisible_character_is_refused_with_its_code_point(name: str, reason: str) -> None:
    with pytest.raises(BadName) as refused:
        parse_name(name)
    assert reason in str(refused.value)


def test_no_control_or_ignorable_character_is_a_name() -> None:
    for code in (
        *range(0x20),
        *range(0x7F, 0xA0),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE1000),
        *range(0xFDD0, 0xFDF0),
    ):
        with pytest.raises(BadName):
            parse_name(chr(code))
