"""`GET /v1/matches/{id}/board.svg`: access to pictures, and how long they may be cached."""

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

CACHED_FOREVER: Final = "public, max-age=31536000, immutable"
NOT_CACHED: Final = "private, no-store"


@pytest.fixture(scope="module")
def private(client: Client) -> Table:
    table = set_table(client.container.ports, private=True)
    table.finish(client.container.ports)
    return table


def board(table: Table, query: str = "") -> str:
    return f"/v1/matches/{table.match_id}/board.svg{query}"


def description(drawn: bytes) -> str:
    return ET.fromstring(drawn).findtext("{http://www.w3.org/2000/svg}desc") or ""


def test_a_picture_is_an_svg_document_that_may_use_its_own_style_and_nothing_else(
    client: Client, running: Table
) -> None:
    response = client.get(board(running))
    assert response.content_type == "image/svg+xml"
    style = re.search("<style>(.*?)</style>", response.text)
    assert style is not None
    digest = b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert response.headers["Content-Security-Policy"] == f"default-src 'none'; style-src 'sha256-{digest}'; sandbox"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert len(response.get_data()) < 80_000


def test_a_picture_shows_only_what_the_viewer_may_know(client: Client, running: Table) -> None:
    own, spectators = client.get(board(running), running.ben_token), client.get(board(running))
    hand = client.ask(f"/v1/matches/{running.match_id}", running.ben_token)["observation"]["seats"][1]["hand"]
    assert hand
    assert set(re.findall('data-type="play_civilization" data-card="([^"]+)"', own.text)) == set(hand)
    assert "play_civilization" not in spectators.text
    assert client.get(board(running), running.anna_token).text == spectators.text
    assert problem(client.get(board(running, "?viewer=0"), running.ben_token)).code == "not-your-seat"


def test_after_the_end_everybody_may_see_the_view_of_every_seat(client: Client, finished: Table) -> None:
    seen = [client.get(board(finished, f"?viewer={seat}")).text for seat in (0, 1)]
    assert client.get(board(finished), finished.ben_token).text == seen[1] != seen[0]


def test_after_the_end_one_picture_shows_what_every_seat_knew(client: Client, finished: Table, running: Table) -> None:
    both = client.get(board(finished, "?view=now&version=10"))
    seen = [client.get(board(finished, f"?viewer={seat}&version=10")).text for seat in (0, 1)]
    cards = [set(re.findall('data-card="([^"]+)"', text)) for text in (both.text, *seen)]
    assert cards[0] == cards[1] | cards[2] != cards[1]
    assert client.get(board(finished, "?view=now&version=10&viewer=1")).text == both.text
    assert client.get(board(finished, "?view=then&version=10&viewer=1")).text == seen[1]
    assert both.headers["ETag"].endswith('-en-all"')
    for token in (None, running.ben_token):
        for tag in (None, "*"):
            response = client.get(board(running, "?view=now"), token, **({"if_none_match": tag} if tag else {}))
            assert problem(response).code == "not-your-seat"


@pytest.mark.parametrize(
    ("which", "query", "with_token", "cache_control"),
    [
        ("running", "?version=9", False, CACHED_FOREVER),
        ("running", "?version=9&language=de&highlight=true", False, CACHED_FOREVER),
        ("running", "", False, NOT_CACHED),
        ("running", "?version=9", True, NOT_CACHED),
        ("running", "?version=9&viewer=1", True, NOT_CACHED),
        ("finished", "?version=9&viewer=1", False, CACHED_FOREVER),
        ("finished", "?version=9", True, CACHED_FOREVER),
        ("finished", "?viewer=0", False, NOT_CACHED),
        ("finished", "?version=9&view=now", False, CACHED_FOREVER),
        ("finished", "?view=now", False, NOT_CACHED),
        ("private", "?version=9&view=now", True, NOT_CACHED),
        ("private", "?version=9&viewer=1", True, NOT_CACHED),
    ],
)
def test_a_picture_that_everybody_may_always_see_may_be_cached_forever(
    client: Client, request: pytest.FixtureRequest, which: str, query: str, with_token: bool, cache_control: str
) -> None:
    table: Table = request.getfixturevalue(which)
    response = client.get(board(table, query), table.ben_token if with_token else None)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == cache_control
    assert "Authorization" in response.headers["Vary"], "another token may see another picture at the same address"


def test_a_tag_names_the_drawing_the_language_and_the_viewer(client: Client, running: Table) -> None:
    match = client.container.ports.history.newest(running.match_id)[0]
    first = f'"{match.head.version}-{match.head.hash[:16]}-{pictures.REVISION}-'
    requests = [("", None), ("?language=de", None), ("", running.ben_token)]
    tags = [client.get(board(running, query), token).headers["ETag"] for query, token in requests]
    assert tags == [f'{first}en-s"', f'{first}de-s"', f'{first}en-1"']
    for (query, token), tag in zip(requests, tags, strict=True):
        for given in (tag, f"W/{tag}", "*"):
            again = client.get(board(running, query), token, if_none_match=given)
            assert (again.status_code, again.get_data(), again.headers["ETag"]) == (304, b"", tag)
    older = f'"{match.head.version}-{match.head.hash[:16]}"'
    for tag in (*tags[1:], older):
        assert client.get(board(running), if_none_match=tag).status_code == 200


@pytest.mark.parametrize(
    ("query", "accepted", "language", "varies"),
    [
        ("", "de-AT, en", "de", True),
        ("", "fr", "en", True),
        ("?language=en", "de", "en", False),
        ("?language=de", "en", "de", False),
    ],
)
def test_the_language_is_that_of_the_query_or_else_of_accept_language(
    client: Client, running: Table, query: str, accepted: str, language: str, varies: bool
) -> None:
    response = client.get(board(running, query), accept_language=accepted)
    assert ET.fromstring(response.get_data()).get("lang") == language
    assert ("Accept-Language" in response.headers["Vary"]) == varies
    assert response.headers.get("Content-Language") == (language if varies else None)


def test_highlight_marks_what_the_event_of_the_version_changed(client: Client, finished: Table) -> None:
    drawn = [client.get(board(finished, f"?version=10&highlight={is_on}")).text for is_on in ("false", "true")]
    assert ["ms-changed" in re.sub("<style>.*?</style>", "", one) for one in drawn] == [False, True]
    assert client.get(board(finished, "?version=10")).text == drawn[0]


def test_before_the_start_a_picture_shows_the_free_seats(client: Client, running: Table) -> None:
    assert (
        description(client.get(board(running, "?version=1")).get_data())
        == "Waiting for players: 0 of 2 seats are taken."
    )


def test_a_picture_is_compressed_if_the_client_accepts_it(client: Client, running: Table) -> None:
    packed = Client(client.container, unchecked=True).get(board(running), accept_encoding="gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.headers["ETag"].startswith("W/")
    assert len(packed.get_data()) < 20_000


@pytest.mark.parametrize("query", ["?language=fr", "?highlight=yes", "?version=0", "?viewer=x", "?view=all", "?size=9"])
def test_a_wrong_query_is_refused(client: Client, running: Table, query: str) -> None:
    assert problem(client.get(board(running, query))).code == "invalid-parameter"
    assert problem(client.get(board(running, "?version=9999"))).code == "version-not-found"
