"""gzip: only if the client accepts it, above a minimum size, never for streams, and with a weak ETag."""

import gzip
from typing import Final

import msgspec
import pytest

from api.http.compression import SMALLEST
from tests.api.checked import Client
from tests.api.table import Table, set_table

GZIP: Final = {"accept_encoding": "gzip"}


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(unchecked=True)


@pytest.fixture(scope="module")
def table(client: Client) -> Table:
    made = set_table(client.container.ports)
    made.play(client.container.ports, 10)
    return made


@pytest.fixture(scope="module")
def finished(client: Client) -> Table:
    ended = set_table(client.container.ports)
    ended.finish(client.container.ports)
    return ended


def address(table: Table, rest: str = "") -> str:
    return f"/v1/matches/{table.match_id}{rest}"


def test_a_compressed_answer_decompresses_to_the_plain_one(client: Client, table: Table) -> None:
    plain, packed = client.get(address(table)), client.get(address(table), **GZIP)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.get_data()) == int(packed.headers["Content-Length"]) < len(plain.get_data())
    assert gzip.decompress(packed.get_data()) == plain.get_data()
    assert packed.headers["ETag"] == f"W/{plain.headers['ETag']}"
    for response in (plain, packed):
        assert "Accept-Encoding" in response.headers["Vary"]


@pytest.mark.parametrize("accepted", ["identity", "gzip;q=0", "br", "", "*;q=0"])
def test_a_client_that_does_not_accept_gzip_gets_plain_bytes(client: Client, table: Table, accepted: str) -> None:
    assert "Content-Encoding" not in client.get(address(table), accept_encoding=accepted).headers


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.5", "*"])
def test_a_client_that_accepts_gzip_gets_it(client: Client, table: Table, accepted: str) -> None:
    assert client.get(address(table), accept_encoding=accepted).headers["Content-Encoding"] == "gzip"


def test_small_answers_are_not_compressed(client: Client) -> None:
    response = client.get("/healthz", **GZIP)
    assert len(response.get_data()) < SMALLEST
    assert "Content-Encoding" not in response.headers


@pytest.mark.parametrize("form", ["text/event-stream", "application/x-ndjson"])
def test_streams_are_never_compressed(client: Client, finished: Table, form: str) -> None:
    assert "Content-Encoding" not in client.get(address(finished, "/events"), accept=form, **GZIP).headers


def test_a_match_file_is_compressed(client: Client, finished: Table) -> None:
    plain, packed = client.get(address(finished, "/export")), client.get(address(finished, "/export"), **GZIP)
    assert gzip.decompress(packed.get_data()) == plain.get_data()
    assert len(packed.get_data()) < len(plain.get_data())
    assert packed.headers["ETag"] == f"W/{plain.headers['ETag']}"


def test_a_weak_tag_in_a_condition_counts_like_the_strong_one(client: Client, table: Table) -> None:
    tag = client.get(address(table), **GZIP).headers["ETag"]
    same = client.get(address(table), if_none_match=tag, **GZIP)
    assert (same.status_code, same.headers["ETag"], same.headers["Vary"]) == (304, tag, "Accept-Encoding")
    refused = client.post(address(table, "/actions"), {"action": {"type": "pass"}}, table.ben_token, if_match=tag)
    assert refused.status_code != 412


def test_a_problem_is_compressed_too(client: Client, table: Table) -> None:
    body = {f"unknown{number}": 1 for number in range(30)}
    response = client.post(address(table, "/actions"), body, table.ben_token, **GZIP)
    assert response.status_code == 422
    assert msgspec.json.decode(gzip.decompress(response.get_data()))["code"] == "invalid-request"


def test_the_reference_is_compressed(client: Client) -> None:
    response = client.get("/openapi.yaml", **GZIP)
    assert gzip.decompress(response.get_data()) == client.get("/openapi.yaml").get_data()
    assert client.get("/openapi.yaml", if_none_match=response.headers["ETag"]).status_code == 304


def test_a_304_has_the_tag_of_the_answer_that_it_replaces(client: Client) -> None:
    for path, weak in (("/openapi.yaml", True), ("/docs/swagger-ui.css", False)):
        http = client.app.test_client()
        with http.get(path, headers={"Accept-Encoding": "gzip"}) as whole:
            tag = whole.headers["ETag"]
        with http.get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": tag}) as same:
            assert (same.status_code, same.headers["ETag"], tag.startswith("W/")) == (304, tag, weak)
            assert "Content-Type" not in same.headers
