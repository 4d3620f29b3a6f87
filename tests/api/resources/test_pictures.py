"""`GET /v1/matches/{id}/board.svg`: who may see which picture, and how long it may be cached."""

import hashlib
import re
from base64 import b64encode
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from service.views import pictures
from tests.api.checked import Client
from tests.api.conftest import problem
from tests.api.table import Table, set_table

FOR_EVER: Final = "public, max-age=31536000, immutable"
NEVER: Final = "private, no-store"


@pytest.fixture(scope="module")
def private(client: Client) -> Table:
    table = set_table(client.container.ports, private=True)
    table.finish(client.container.ports)
    return table


def board(table: Table, query: str = "") -> str:
    return f"/v1/matches/{table.match_id}/board.svg{query}"


def description(drawn: bytes) -> str:
    return ET.fromstring(drawn).findtext("{http://www.w3.org/2000/svg}desc") or ""


def test_a_picture_is_an_svg_document_that_may_use_its_own_style_and_nothing_else(client: Client, going: Table) -> None:
    response = client.get(board(going))
    assert response.content_type == "image/svg+xml"
    style = re.search("<style>(.*?)</style>", response.text)
    assert style is not None
    digest = b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert response.headers["Content-Security-Policy"] == f"default-src 'none'; style-src 'sha256-{digest}'; sandbox"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert len(response.get_data()) < 80_000


def test_it_shows_what_the_viewer_may_know(client: Client, going: Table) -> None:
    own, spectators = client.get(board(going), going.ben_token), client.get(board(going))
    hand = client.ask(f"/v1/matches/{going.match_id}", going.ben_token)["observation"]["seats"][1]["hand"]
    assert hand
    assert set(re.findall('data-type="play_civilization" data-card="([^"]+)"', own.text)) == set(hand)
    assert "play_civilization" not in spectators.text
    assert client.get(board(going), going.anna_token).text == spectators.text
    assert problem(client.get(board(going, "?viewer=0"), going.ben_token)).code == "not-your-seat"


def test_after_the_end_everybody_may_look_from_every_seat(client: Client, over: Table) -> None:
    seen = [client.get(board(over, f"?viewer={seat}")).text for seat in (0, 1)]
    assert client.get(board(over), over.ben_token).text == seen[1] != seen[0]


def test_after_the_end_one_picture_shows_what_every_seat_knew(client: Client, over: Table, going: Table) -> None:
    both = client.get(board(over, "?view=now&version=10"))
    seen = [client.get(board(over, f"?viewer={seat}&version=10")).text for seat in (0, 1)]
    cards = [set(re.findall('data-card="([^"]+)"', text)) for text in (both.text, *seen)]
    assert cards[0] == cards[1] | cards[2] != cards[1]
    assert client.get(board(over, "?view=now&version=10&viewer=1")).text == both.text
    assert client.get(board(over, "?view=then&version=10&viewer=1")).text == seen[1]
    assert both.headers["ETag"].endswith('-en-all"')
    for token in (None, going.ben_token):
        for tag in (None, "*"):
            response = client.get(board(going, "?view=now"), token, **({"if_none_match": tag} if tag else {}))
            assert problem(response).code == "not-your-seat"


@pytest.mark.parametrize(
    ("which", "query", "with_token", "kept"),
    [
        ("going", "?version=9", False, FOR_EVER),
        ("going", "?version=9&language=de&highlight=true", False, FOR_EVER),
        ("going", "", False, NEVER),
        ("going", "?version=9", True, NEVER),
        ("going", "?version=9&viewer=1", True, NEVER),
        ("over", "?version=9&viewer=1", False, FOR_EVER),
        ("over", "?version=9", True, FOR_EVER),
        ("over", "?viewer=0", False, NEVER),
        ("over", "?version=9&view=now", False, FOR_EVER),
        ("over", "?view=now", False, NEVER),
        ("private", "?version=9&view=now", True, NEVER),
        ("private", "?version=9&viewer=1", True, NEVER),
    ],
)
def test_what_everybody_may_see_for_ever_may_be_kept_for_ever(
    client: Client, request: pytest.FixtureRequest, which: str, query: str, with_token: bool, kept: str
) -> None:
    table: Table = request.getfixturevalue(which)
    response = client.get(board(table, query), table.ben_token if with_token else None)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == kept
    assert "Authorization" in response.headers["Vary"], "another token may see another picture at the same address"


def test_a_tag_names_the_drawing_the_language_and_the_viewer(client: Client, going: Table) -> None:
    match = client.container.ports.history.newest(going.match_id)[0]
    first = f'"{match.head.version}-{match.head.hash[:16]}-{pictures.REVISION}-'
    asked = [("", None), ("?language=de", None), ("", going.ben_token)]
    tags = [client.get(board(going, query), token).headers["ETag"] for query, token in asked]
    assert tags == [f'{first}en-s"', f'{first}de-s"', f'{first}en-1"']
    for (query, token), tag in zip(asked, tags, strict=True):
        for given in (tag, f"W/{tag}", "*"):
            again = client.get(board(going, query), token, if_none_match=given)
            assert (again.status_code, again.get_data(), again.headers["ETag"]) == (304, b"", tag)
    older = f'"{match.head.version}-{match.head.hash[:16]}"'
    for tag in (*tags[1:], older):
        assert client.get(board(going), if_none_match=tag).status_code == 200


@pytest.mark.parametrize(
    ("query", "accepted", "language", "varies"),
    [
        ("", "de-AT, en", "de", True),
        ("", "fr", "en", True),
        ("?language=en", "de", "en", False),
        ("?language=de", "en", "de", False),
    ],
)
def test_the_language_is_that_of_the_address_or_else_the_callers(
    client: Client, going: Table, query: str, accepted: str, language: str, varies: bool
) -> None:
    response = client.get(board(going, query), accept_language=accepted)
    assert ET.fromstring(response.get_data()).get("lang") == language
    assert ("Accept-Language" in response.headers["Vary"]) == varies
    assert response.headers.get("Content-Language") == (language if varies else None)


def test_highlight_marks_what_the_event_of_the_version_changed(client: Client, over: Table) -> None:
    drawn = [client.get(board(over, f"?version=10&highlight={marked}")).text for marked in ("false", "true")]
    assert ["ms-changed" in re.sub("<style>.*?</style>", "", one) for one in drawn] == [False, True]
    assert client.get(board(over, "?version=10")).text == drawn[0]


def test_before_the_start_it_shows_the_free_seats(client: Client, going: Table) -> None:
    assert (
        description(client.get(board(going, "?version=1")).get_data()) == "Waiting for players: 0 of 2 seats are taken."
    )


def test_it_is_compressed_if_the_client_accepts_it(client: Client, going: Table) -> None:
    packed = Client(client.container, hasty=True).get(board(going), accept_encoding="gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["ETag"].startswith("W/")
    assert len(packed.get_data()) < 20_000


@pytest.mark.parametrize("query", ["?language=fr", "?highlight=yes", "?version=0", "?viewer=x", "?view=all", "?size=9"])
def test_what_is_wrong_with_a_query_is_said(client: Client, going: Table, query: str) -> None:
    assert problem(client.get(board(going, query))).code == "invalid-parameter"
    assert problem(client.get(board(going, "?version=9999"))).code == "version-not-found"
