"""Strict JSON: an accepted text has the same value for every parser; any other raises BadJSON quickly."""

import json
import time
from contextlib import suppress

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from service.repository.strict_json import JSON, MAX_DEPTH, MAX_INTEGER, BadJSON, loads
from tests.api.conftest import TOKEN, problem

REFUSED = {
    "empty": b"",
    "NaN": b'{"a":NaN}',
    "Infinity": b"[Infinity]",
    "-Infinity": b"[-Infinity]",
    "1e999": b"[1e999]",
    "fraction": b"[1.5]",
    "whole number as fraction": b"[5.0]",
    "exponent": b"[1e2]",
    "duplicate key": b'{"a":1,"a":2}',
    "duplicate key by escape": b'{"a":1,"\\u0061":2}',
    "duplicate key deep down": b'[{"b":{"a":1,"a":1}}]',
    "4,000 digits": b'{"a":' + b"9" * 4000 + b"}",
    "5,000 digits": b"9" * 5000,
    "2^53": b"[9007199254740992]",
    "-2^53": b"[-9007199254740992]",
    "17 levels": b"[" * 17 + b"]" * 17,
    "17 levels of objects": b'{"a":' * 17 + b"1" + b"}" * 17,
    "100,000 levels": b"[" * 100_000,
    "lone surrogate": b'{"a":"\\ud800"}',
    "lone low surrogate": b'["\\udc00x"]',
    "lone surrogate in a key": b'{"\\ud83d":1}',
    "encoded surrogate": b'["\xed\xa0\x80"]',
    "NUL": b'{"a":"\\u0000"}',
    "raw NUL": b'"\x00"',
    "raw newline in a string": b'"a\nb"',
    "not UTF-8": b'{"a":"\xff"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": "{}".encode("utf-16"),
    "UTF-32": "{}".encode("utf-32-le"),
    "trailing text": b"{} x",
    "two values": b"{}{}",
    "trailing comma": b'{"a":1,}',
    "single quotes": b"{'a':1}",
    "brackets in an open string": b'["[[[[[[[[[[[[[[[[[[[[[[[["',
    "backslashes": b'"' + b"\\" * 5001,
    "leading zero": b"[01]",
    "plus sign": b"[+1]",
    "hexadecimal": b"[0x1]",
    "Arabic digits": "[٥]".encode(),
    "underscore": b"[1_0]",
    "comment": b"{}//",
}

ACCEPTED: dict[bytes, JSON] = {
    b"{}": {},
    b' {"a" : [1, -3, true, false, null]}\n': {"a": [1, -3, True, False, None]},
    b'"\xc3\xa9\\ud83d\\ude00\\n"': "é😀\n",
    b'["]]]}}}[[[[[[[[[[[[[[[[[[[["]': ["]]]}}}[[[[[[[[[[[[[[[[[[[["],
    b'["\\"[[[[[[[[[[[[[[[[[[[["]': ['"[[[[[[[[[[[[[[[[[[[['],
    b"[9007199254740991,-9007199254740991,-0]": [MAX_INTEGER, -MAX_INTEGER, 0],
    b"[" + b"[]," * 40 + b"[]]": [[]] * 41,
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_json_that_parsers_disagree_on_is_refused(body: bytes) -> None:
    with pytest.raises(BadJSON) as refusal:
        loads(body)
    assert len(str(refusal.value)) < 100


@pytest.mark.parametrize("body", [one for one in REFUSED.values() if 0 < len(one) <= 16_384])
def test_a_request_with_an_invalid_body_gets_one_problem(client: FlaskClient, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Length": str(len(body))}
    answer = client.post("/v1/stones", data=body, content_type="application/json", headers=headers)
    assert problem(answer)[:2] == (400, "bad-json")
    assert len(answer.get_data()) < 1024


@pytest.mark.parametrize(("body", "value"), ACCEPTED.items())
def test_plain_json_is_accepted(body: bytes, value: JSON) -> None:
    assert loads(body) == value


def test_the_deepest_value_has_sixteen_levels() -> None:
    body = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert json.dumps(loads(body)).encode() == body


def _loads_or_refuses(body: bytes) -> None:
    try:
        value = loads(body)
    except BadJSON:
        return
    canonical = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    assert loads(canonical) == value == json.loads(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_bad_json(body: bytes) -> None:
    _loads_or_refuses(body)


@given(st.text(alphabet='{}[]",:\\u0d8Eeé1-.\n tnf\x00', max_size=60))
def test_near_json_is_a_value_or_bad_json(text: str) -> None:
    _loads_or_refuses(text.encode())


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_values, st.booleans())
def test_any_valid_value_is_parsed_to_an_equal_value(value: JSON, ascii_only: bool) -> None:
    assert loads(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


SLOWEST = {
    "escaped quotes without an end": b'[[[[[[[[[[[[[[[[["' + b'\\"' * 8000,
    "letters and backslashes": b"[" * 17 + b'"' + b"a\\" * 8000,
    "quotes and brackets": b'"' * 8000 + b"[" * 8000,
    "shallow brackets": b"[" + b"[]," * 5000 + b"[]]",
    "escapes": b'"' + b"\\u0041" * 2700 + b'"',
}


@pytest.mark.parametrize("body", [*SLOWEST.values(), *REFUSED.values()], ids=[*SLOWEST, *REFUSED])
def test_the_worst_sixteen_kilobytes_are_parsed_in_milliseconds(body: bytes) -> None:
    taken = []
    for _ in range(9):  # other processes may slow some of them down
        began = time.thread_time()
        _refuses_or_loads(body[:16_384])
        taken.append(time.thread_time() - began)
    assert min(taken) < 0.005


def _refuses_or_loads(body: bytes) -> None:
    with suppress(BadJSON):
        loads(body)
