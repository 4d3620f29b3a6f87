"""Texts that people choose: the FreeformClass of PRECIS, and nothing that cannot be seen."""

import pytest

from service.match.chosen_text import LONGEST, fault_of_text


@pytest.mark.parametrize(
    "text", ["a", "moon", "x" * LONGEST, "🌙" * LONGEST, "ähre", "l·l", "カ・ナ", "ש״ם", "٣٤", " a ", "\u00a0"]
)
def test_what_can_be_seen_is_accepted(text: str) -> None:
    assert fault_of_text(text) is None
    assert fault_of_text(text, 1) is None


@pytest.mark.parametrize(
    ("text", "in_format_1"),
    [
        ("", False), ("x" * (LONGEST + 1), False), ("a\nb", False), ("\u202e", False), ("\x00", False),
        ("\u200d", True), ("\u200b", True), ("\ufeff", True), ("\u2800", True), ("a\u0301\u034f", True), ("❤\ufe0f", True),
        ("a·b", True), ("\u1100", True), ("\u0640", True), ("・", True), ("٣۴", True), ("\ue000", True), ("\U000e0041", True),
        ("\uffff", True),
    ],
)  # fmt: skip
def test_what_cannot_be_seen_is_refused(text: str, in_format_1: bool) -> None:
    assert fault_of_text(text) is not None
    assert (fault_of_text(text, 1) is None) is in_format_1


def test_a_fault_names_the_code_point() -> None:
    assert "U+200D" in (fault_of_text("a\u200d") or "")
