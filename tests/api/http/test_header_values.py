"""Values of Authorization, Idempotency-Key, If-Match and cursors: every valid form is accepted, all others are refused."""

import base64
import re
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http import auth, etags, idempotency
from events.record import Head
from service.errors import Refused
from service.repository import cursors
from tests.api.checked import Client, reference
from tests.api.conftest import problem

MALFORMED: Final = {"Idempotency-Key": "a b", "If-Match": "12", "If-None-Match": "12", "Last-Event-ID": "1-0"}
HEAD = Head(12, "0123456789abcdef" * 4)


def authenticate(token: str) -> str:
    if token != "moon_anna":
        raise Refused("token-invalid", "No.")
    return "anna"


@pytest.mark.parametrize("header", ["Bearer moon_anna", "bearer moon_anna", "BEARER  moon_anna "])
def test_a_bearer_token_identifies_its_player(header: str) -> None:
    assert auth.identify(header, authenticate) == "anna"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "moon_anna",
        "Basic moon_anna",
        "Bearer moon_bert",
        "Bearer moon_anna x",
        "Bearer é",
        "Bearer " + "x" * 201,
    ],
)
def test_a_wrong_token_is_never_treated_as_a_missing_token(header: str) -> None:
    with pytest.raises(Refused) as refusal:
        auth.identify(header, authenticate)
    assert refusal.value.code == "token-invalid"


def test_a_header_with_another_scheme_gets_a_problem_that_names_the_right_one() -> None:
    with pytest.raises(Refused) as refusal:
        auth.identify("Token moon_bert", authenticate)
    assert "Authorization: Bearer" in refusal.value.detail


def test_a_request_without_a_header_has_no_caller() -> None:
    assert auth.identify(None, authenticate) is None
    with pytest.raises(Refused) as refusal:
        auth.required(None)
    assert refusal.value.code == "token-missing"


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("abc", "abc"),
        ('"abc"', "abc"),
        ("a" * 64, "a" * 64),
        ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        ("~!#-+.", "~!#-+."),
        ('"a,b"', "a,b"),
    ],
)
def test_an_idempotency_key_is_accepted_bare_or_quoted(header: str, key: str) -> None:
    assert idempotency.key(header) == key


@pytest.mark.parametrize(
    "header", ["", '""', "a" * 65, "a b", "é", '"abc', 'a"b', "a\\b", '"', '"a"b"', "a\tb", "a,b", "a, b", '"a","b"']
)
def test_a_malformed_idempotency_key_is_refused(header: str) -> None:
    with pytest.raises(Refused) as refusal:
        idempotency.key(header)
    assert refusal.value.code == "idempotency-key-invalid"


def test_a_missing_idempotency_key_is_replaced_by_a_random_one() -> None:
    made = {idempotency.key(None) for _ in range(10)}
    assert len(made) == 10
    assert all(idempotency.key(key) == key for key in made)


def test_an_etag_holds_the_version_and_sixteen_digits_of_the_head() -> None:
    assert etags.etag(HEAD) == '"12-0123456789abcdef"'
    assert etags.split(etags.tag(HEAD)) == (12, "0123456789abcdef")


@pytest.mark.parametrize(
    ("header", "matches"),
    [
        ('"12-0123456789abcdef"', True),
        ('W/"12-0123456789abcdef"', True),
        ('"11-ffffffffffffffff", W/"12-0123456789abcdef"', True),
        ('"a,b" ,\t"12-0123456789abcdef"', True),
        ("*", True),
        (" * ", True),
        (',"11-ffffffffffffffff",, "12-0123456789abcdef",', True),
        ('"12-ffffffffffffffff"', False),
        ('"13-0123456789abcdef"', False),
        ('""', False),
        (None, False),
    ],
)
def test_weak_tags_lists_of_tags_and_the_asterisk_match(header: str | None, matches: bool) -> None:
    assert etags.matches(etags.parse("If-Match", header), HEAD) is matches


@pytest.mark.parametrize(
    "header",
    [
        "",
        "12",
        '"12',
        '"12"x',
        '"1" "2"',
        'w/"1"',
        "W/*",
        "*,*",
        ",",
        ", ,",
        '"1" , x',
        '"' + "1" * 65 + '"',
        '"1", ' * 300 + '"1"',
    ],
)
def test_a_malformed_list_of_tags_is_refused(header: str) -> None:
    with pytest.raises(Refused) as refusal:
        etags.parse("If-Match", header)
    assert refusal.value.code == "invalid-parameter"


@pytest.mark.parametrize(
    "tag",
    ["", "12", "0-0123456789abcdef", "12-0123", "12-0123456789ABCDEF", "-1-0123456789abcdef", "١-0123456789abcdef"],
)
def test_a_tag_of_another_format_has_no_version(tag: str) -> None:
    assert etags.split(tag) is None


@given(st.tuples(st.integers(0, 2**53), st.text(max_size=20)))
def test_a_cursor_decodes_to_the_position_that_it_encodes(position: tuple[int, str]) -> None:
    cursor = cursors.encode(position)
    assert re.fullmatch("[A-Za-z0-9_-]+", cursor)
    assert cursors.decode(cursor, tuple[int, str]) == position


@given(st.text(max_size=30))
def test_a_text_that_is_not_a_cursor_is_refused(text: str) -> None:
    if _is_cursor(text):
        assert cursors.encode(cursors.decode(text, tuple[int, str])) == text
    else:
        with pytest.raises(Refused) as refusal:
            cursors.decode(text, tuple[int, str])
        assert refusal.value.code == "invalid-parameter"


def _is_cursor(text: str) -> bool:
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return cursors.encode(msgspec.json.decode(packed, type=tuple[int, str])) == text
    except (ValueError, msgspec.DecodeError):
        return False


def operations_with_headers() -> list[tuple[str, str, str, Any]]:
    """Method, path, header and media type, for every operation that reads one of these headers."""
    return [
        (method, path, parameter["name"], form)
        for path, methods in reference()["paths"].items()
        for method, operation in methods.items()
        if method != "parameters"
        for parameter in operation.get("parameters", ())
        if parameter.get("name") in MALFORMED
        for form in operation["responses"].get("200", {"content": {"application/json": None}}).get("content", {})
    ]


@pytest.mark.parametrize(("method", "path", "header", "form"), operations_with_headers())
def test_every_operation_refuses_a_malformed_header_before_it_looks_for_the_match(
    method: str, path: str, header: str, form: str
) -> None:
    client = Client()
    path = path.replace("{match_id}", "nothing")
    headers = {header: MALFORMED[header], "Accept": form}
    found = problem(
        client.send(method.upper(), path, {} if method == "post" else None, token=client.sign_up(), headers=headers)
    )
    assert found.code in {"invalid-parameter", "idempotency-key-invalid"}
    assert [error["parameter"] for error in found.document["errors"]] == [header]
