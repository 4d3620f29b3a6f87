import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.record import Event, canonical, decode, digest, encode

# RFC 8785, section 3.2.2.2: the two-character escapes, lower-case \u00xx for other controls, all else as it is in UTF-8.
STRINGS = [
    ("\b\t\n\f\r", rb'"\b\t\n\f\r"'),
    ("\x00\x0f\x1f", rb'"\u0000\u000f\u001f"'),
    ('"\\/', rb'"\"\\/"'),
    ("\x7f", b'"\x7f"'),
    ("é€", '"é€"'.encode()),
    ("😀", '"😀"'.encode()),
    ("\u2028\u2029", '"\u2028\u2029"'.encode()),
    ("e\u0301", '"e\u0301"'.encode()),
]


@pytest.mark.parametrize(("value", "form"), STRINGS)
def test_strings_are_written_as_rfc_8785_says(value: str, form: bytes) -> None:
    assert canonical(value) == form


def test_a_lone_surrogate_has_no_canonical_form() -> None:
    with pytest.raises(UnicodeEncodeError):
        canonical("\ud800")


def test_keys_are_sorted_at_every_depth_and_nothing_is_between_tokens() -> None:
    value = {"b": [1, {"z": None, "a": True}], "a": {"B": -5, "A": 0, "10": 1, "9": 2, "_": 3}, "": False}
    assert canonical(value) == b'{"":false,"a":{"10":1,"9":2,"A":0,"B":-5,"_":3},"b":[1,{"a":true,"z":null}]}'


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="ascii")), inner),
    max_leaves=20,
)


@settings(max_examples=40)
@given(json_values)
def test_the_form_is_the_one_that_python_writes_with_sorted_keys(value: object) -> None:
    assert canonical(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert canonical(msgspec.json.decode(canonical(value))) == canonical(value)


def test_an_event_is_stored_in_canonical_form_and_decoded_again() -> None:
    data = msgspec.Raw(b'{"seat":0}')
    event = Event(version=1, type="seat_left", at=5, by="player:ann", data=data, prev="p", salt="s")
    stored = canonical(event)
    assert stored == (
        b'{"at":5,"by":"player:ann","data":{"seat":0},"prev":"p","salt":"s","type":"seat_left","version":1}'
    )
    assert encode(event) == stored
    assert decode(stored) == event


@pytest.mark.parametrize("stored", [b"", b"[]", b"{}", b'{"version":1,"extra":2}', b"\x00", b'{"version":"1"}'])
def test_bytes_that_are_no_event_are_refused(stored: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(stored)


def test_the_hash_is_sha_256_of_the_stored_bytes() -> None:
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
