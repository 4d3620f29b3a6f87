"""The check of a bot that plays over the API, at an address where something else than Moonstone answers."""

from collections.abc import Mapping
from typing import Any

import pytest

from service.games.registry import GAMES
from service.ops.bot_check import playing

ESCAPE = "\x1b[31m"


class Strange(playing.Service):
    """Gives the same answer to everything, except that it knows the token."""

    def __init__(self, answer: object) -> None:
        super().__init__("http://127.0.0.1:1024", "token")
        self._answer = answer

    def ask(self, path: str, body: Mapping[str, object] | None = None) -> Any:
        del body
        return {"id": "me", "name": ESCAPE + 100_000 * "x"} if path == "/me" else self._answer


@pytest.mark.parametrize(
    "answer",
    [
        None,
        7,
        "text",
        [],
        {},
        {"id": ESCAPE, "join_code": "x", "events": [7]},
        {"id": "m", "join_code": "x", "events": ["e"]},
        {"id": "m", "join_code": "x", "events": [{"type": "action", "data": [], "version": {}}]},
        {"id": "m", "join_code": "x", "events": [{"type": "default_action", "data": {"seat": None}}]},
        {"id": "m", "join_code": "x", "tasks": [{"task": "t", "match": "m", "legal_actions": []}]},
        {"id": "m", "join_code": "x", "tasks": [{"task": "t", "match": "m", "legal_actions": ["a"]}]},
        {"id": "m", "join_code": "x", "tasks": 7},
    ],
)
def test_strange_answers_get_a_verdict(answer: object) -> None:
    token, *games = playing.verdicts(Strange(answer), [GAMES["ape_town"]])
    strange = playing._checked("two-programs", playing._two_programs, Strange(answer), "me", GAMES["ape_town"])
    assert (token.outcome, len(token.text) < 600) == ("ok", True)
    for verdict in (*games, strange):
        assert verdict.outcome == "fault"
        assert ESCAPE not in verdict.text + token.text


def test_an_address_without_a_player_is_no_service() -> None:
    class Empty(Strange):
        def ask(self, path: str, body: Mapping[str, object] | None = None) -> Any:
            del path, body
            return []

    (verdict,) = playing.verdicts(Empty(None), [GAMES["ape_town"]])
    assert (verdict.check, verdict.outcome) == ("token", "fault")
