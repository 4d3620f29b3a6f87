"""Processes of the last release that created matches of format 1, and of this release, on one log."""

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from service.automation.expiry import expire
from service.container import build
from service.match.model import OPEN_MS
from service.match.new_match import NewMatch
from service.settings import read
from service.usecases.finding import Wanted, open_page
from service.usecases.match_lifecycle import create
from service.usecases.match_lists import player_page
from tests.api.live import get
from tests.chaos.releases import last_of_format_1
from tests.chaos.test_upgrade import environ as environ
from tests.waiting import until
from tests.workers.forked import forked


@pytest.mark.long
def test_a_process_of_the_last_release_with_format_1_says_that_it_is_too_old_for_format_2(
    tmp_path: Path, environ: Mapping[str, str]
) -> None:
    """It never calls the match corrupt, changes nothing, and goes on to serve the matches of its own format."""
    with last_of_format_1(tmp_path, environ) as old:
        old.start_api()
        with closing(build(read({**environ, "MOONSTONE_DATA_DIR": str(tmp_path / "data")}), listen=False)) as service:
            ports = service.ports
            ada = _posted(old.port, "/v1/players", {"name": "Ada"})[1]
            token, player = ada["token"], ada["player"]["id"]
            new, own = (
                create(ports, player, NewMatch("ape_town", 2, format_number=number), f"format {number}").match
                for number in (2, 1)
            )
            assert _asked(old.port, f"/v1/matches/{new.id}", token) == (503, "engine-too-old")
            for path in ("seats", "leave", "start"):
                status, document = _posted(old.port, f"/v1/matches/{new.id}/{path}", {}, token)
                assert (status, document["code"]) == (503, "engine-too-old")
            assert _asked(old.port, f"/v1/matches/{own.id}", token)[0] == 200
            assert _posted(old.port, f"/v1/matches/{own.id}/seats", {}, token)[0] == 201
            assert ports.history.newest(new.id)[0].head == new.head
            assert ports.history.newest(own.id)[0].head.version == 2
            expire(replace(ports, now=lambda: own.created_at + OPEN_MS), own.id)
            assert _asked(old.port, f"/v1/matches/{own.id}", token)[0] == 200
            assert ports.history.newest(own.id)[0].status == "aborted"


@pytest.mark.long
def test_open_matches_of_the_last_release_with_format_1_are_taken_over(
    tmp_path: Path, environ: Mapping[str, str]
) -> None:
    """Workers of this release add them to all lists, count their seats, and will end them."""
    with last_of_format_1(tmp_path, environ) as old, ExitStack() as stack:
        old.start_api()
        ada, ben = (_posted(old.port, "/v1/players", {"name": name})[1] for name in ("Ada", "Ben"))
        game = {"game": "ape_town", "seats": 3}
        shown, hidden = (
            _posted(old.port, "/v1/matches", {**game, "private": private}, ada["token"])[1] for private in (False, True)
        )
        for match in (shown, hidden):
            body = {"join_code": match["join_code"]} if "join_code" in match else {}
            assert _posted(old.port, f"/v1/matches/{match['id']}/seats", body, ben["token"])[0] == 201
        service = stack.enter_context(
            closing(build(read({**environ, "MOONSTONE_DATA_DIR": str(tmp_path / "data")}), listen=False))
        )
        ports, player = service.ports, ben["player"]["id"]
        wanted = Wanted(game="ape_town", free_seats=2)
        assert open_page(ports, wanted, None, 9) == ((), None)
        worker = forked("people", {**os.environ, **environ})
        stack.callback(worker.wait, 60)
        stack.callback(worker.terminate)
        until(lambda: len(ports.log.scheduled("open")) == 2, 60, "their ends are due")
        assert [view.id for view in open_page(ports, wanted, None, 9)[0]] == [shown["id"]]
        until(ports.index.is_published, 60, "all matches are in the lists of their players")
        assert [view.id for view in player_page(ports, player, None, 9)[0]] == [shown["id"]]
        assert {entry.match_id for _, entry in ports.index.held_seats(player)} == {shown["id"], hidden["id"]}
        expires_at = {ports.history.newest(match["id"])[0].created_at + OPEN_MS for match in (shown, hidden)}
        assert {due.at for due in ports.log.scheduled("open")} == expires_at
        assert _posted(old.port, f"/v1/matches/{shown['id']}/leave", {}, ben["token"])[0] == 200


def _asked(port: int, path: str, token: str) -> tuple[int, str]:
    with get(port, path, {"Authorization": f"Bearer {token}"}) as response:
        document = json.loads(response.read())
    return response.status, document.get("code", "")


def _posted(port: int, path: str, body: object, token: str | None = None) -> tuple[int, dict[str, Any]]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", path, json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
