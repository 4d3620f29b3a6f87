"""A response for an unknown address has a hint about its form."""

from typing import Final

import pytest

from tests.api.checked import Client
from tests.api.conftest import problem

DOUBLE_SLASH: Final = "Two slashes follow each other"
TRAILING_SLASH: Final = "Leave out the slash at the end"
UNFILLED_VARIABLE: Final = "the client did not fill a variable in"
LOWER_CASE: Final = "lower-case letters only"


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(unchecked=True)


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("/v1/matches/", "not-found", TRAILING_SLASH),
        ("/v1/games/ape_town/", "not-found", TRAILING_SLASH),
        ("/v1/matches/x/events/", "not-found", TRAILING_SLASH),
        ("/v1//matches", "not-found", DOUBLE_SLASH),
        ("/v1/matches//events", "not-found", DOUBLE_SLASH),
        ("/v1/matches/undefined", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/undefined/events", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/null/legal-actions", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/None", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/[object Object]", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/{id}", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/%7Bid%7D", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/${match}/events", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/:id", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/$match", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/%25s", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/matches/<match_id>", "match-not-found", UNFILLED_VARIABLE),
        ("/v1/games/{game}", "game-not-found", UNFILLED_VARIABLE),
        ("/v1/Matches", "not-found", LOWER_CASE),
        ("/V1/matches", "not-found", LOWER_CASE),
        ("/v1/matches/ABCDEFGHIJKLMNOPQRSTUVWXYZ", "match-not-found", LOWER_CASE),
        ("/v1/games/Ape_Town", "game-not-found", LOWER_CASE),
        ("/problems/Match-Full", "not-found", LOWER_CASE),
    ],
)
def test_the_answer_says_what_is_wrong_with_the_address(client: Client, path: str, code: str, expected: str) -> None:
    found = problem(client.get(path))
    assert found.code == code
    assert expected in found.document["detail"]


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/matches/abcdefghijklmnopqrstuvwxyz", "/v1/games/chess", "/x"])
def test_a_well_formed_address_gets_no_hint(client: Client, path: str) -> None:
    detail = problem(client.get(path)).document["detail"]
    assert not any(one in detail for one in (DOUBLE_SLASH, TRAILING_SLASH, UNFILLED_VARIABLE, LOWER_CASE))


def test_the_answer_for_an_address_without_a_route_names_the_list_of_routes(client: Client) -> None:
    assert "/docs" in problem(client.get("/v1")).document["detail"]


def test_only_a_part_of_a_long_address_is_quoted(client: Client) -> None:
    assert len(problem(client.get("/v1/matches/{" + "x" * 1000 + "}")).document["detail"]) < 300
