"""`moonstone bot check --token-file`: bots that play over the API of a service."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from service.games.registry import GAMES
from service.ops.bot_check import playing
from service.ops.cli import main
from tests.service.called_bots import first_action
from tests.serving import Serving


def new_bot(served: Serving) -> httpx.Client:
    """A client with the token of a new hosted bot."""
    owner = httpx.post(f"{served.url}/v1/players", json={"name": "Owner"}).json()["token"]
    with httpx.Client(base_url=f"{served.url}/v1", headers={"Authorization": f"Bearer {owner}"}) as client:
        bot = client.post("/me/bots", json={"name": "Puller"}).json()
    return httpx.Client(base_url=f"{served.url}/v1", headers={"Authorization": f"Bearer {bot['token']}"}, timeout=30)


@contextmanager
def pulling(bot: httpx.Client, decisions: int) -> Iterator[None]:
    """The loop of HOSTING-A-BOT.md, which takes so many decisions."""
    stopped = threading.Event()

    def pull() -> None:
        taken = 0
        while not stopped.is_set() and taken < decisions:
            for task in bot.get("/me/tasks", params={"wait": 1}).json().get("tasks", []):
                action = {"action": first_action(task), "decision": task["decision"]["id"]}
                bot.post(f"/matches/{task['match']}/actions", json=action, headers={"Idempotency-Key": task["task"]})
                taken += 1

    thread = threading.Thread(target=pull)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def check(served: Serving, folder: Path, token: str, *games: str) -> tuple[int, list[dict[str, Any]]]:
    file = folder / "token"
    file.write_text(token)
    words = [word for game in games for word in ("--game", game)]
    done = CliRunner().invoke(main, ["bot", "check", served.url, "--token-file", str(file), "--json", *words])
    assert token not in done.output
    return done.exit_code, json.loads(done.stdout)["verdicts"]


def token_of(bot: httpx.Client) -> str:
    return bot.headers["Authorization"].removeprefix("Bearer ")


def test_a_bot_that_pulls_its_tasks_has_no_fault(served: Serving, tmp_path: Path) -> None:
    with new_bot(served) as bot, pulling(bot, 1000):
        code, verdicts = check(served, tmp_path, token_of(bot), "ape_town", "monsters_on_the_moon")
        left = bot.get("/me/matches").json()["matches"]
    assert (code, [one["outcome"] for one in verdicts[:3]]) == (0, ["ok"] * 3), verdicts
    assert (verdicts[3]["check"], verdicts[3]["outcome"] in {"ok", "skipped"}, len(verdicts)) == (
        "two-programs",
        True,
        4,
    )
    assert verdicts[0]["text"] == "It is the token of Puller."
    assert verdicts[1]["text"].startswith(f"It took {playing.DECISIONS} decisions, the slowest within ")
    assert left


@pytest.mark.parametrize(
    ("decisions", "sentence"),
    [(0, "It took no decision within 1 s."), (2, "It took 2 decisions, and then none within 5 s.")],
)
def test_a_bot_that_stops_playing_has_a_fault(
    served: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decisions: int, sentence: str
) -> None:
    monkeypatch.setattr(playing, "TURN_S", 5)
    if not decisions:
        monkeypatch.setattr(playing, "LONGEST_S", 1.0)
        monkeypatch.setattr(playing, "_WAIT_S", 1)
    with new_bot(served) as bot, pulling(bot, decisions):
        code, (_, verdict) = check(served, tmp_path, token_of(bot), "ape_town")
    assert (code, verdict["outcome"]) == (1, "fault")
    assert verdict["text"].startswith(sentence)
    assert "Does the bot run with this token" in verdict["text"]


@pytest.mark.parametrize(("goes_on", "outcome"), [(True, "ok"), (False, "fault")])
def test_a_bot_goes_on_after_another_program_took_its_decision(
    served: Serving, monkeypatch: pytest.MonkeyPatch, goes_on: bool, outcome: str
) -> None:
    monkeypatch.setattr(playing, "TURN_S", 5)

    def slow() -> None:
        """Answers its first task only after the check has."""
        (task,) = bot.get("/me/tasks", params={"wait": 20}).json()["tasks"]
        bot.get(f"/matches/{task['match']}/events", params={"after": task["version"], "wait": 20})
        path = f"/matches/{task['match']}/actions"
        late = bot.post(path, json={"action": first_action(task), "decision": task["decision"]["id"]})
        assert late.json()["code"] == "decision-closed"
        while goes_on and not finished.is_set():
            for later in bot.get("/me/tasks", params={"wait": 1}).json()["tasks"]:
                bot.post(path, json={"action": first_action(later), "decision": later["decision"]["id"]})

    finished = threading.Event()
    with new_bot(served) as bot, ThreadPoolExecutor() as threads:
        played = threads.submit(slow)
        service = playing.Service(served.url, token_of(bot))
        verdict = playing._two_programs(service, "", GAMES["ape_town"])
        finished.set()
        played.result()
    assert verdict.outcome == outcome, verdict.text


def test_a_token_that_is_not_valid_and_a_service_that_is_away_are_reported(served: Serving, tmp_path: Path) -> None:
    code, (verdict,) = check(served, tmp_path, "no-token")
    assert (code, verdict["check"], verdict["outcome"]) == (1, "token", "fault")
    file = tmp_path / "token"
    done = CliRunner().invoke(main, ["bot", "check", "http://127.0.0.1:1024", "--token-file", str(file)])
    assert (
        done.exit_code,
        done.stdout.startswith("FAULT    token: No service answers at http://127.0.0.1:1024/v1: "),
    ) == (1, True)
    file.write_text("two words")
    done = CliRunner().invoke(main, ["bot", "check", "http://127.0.0.1:1024", "--token-file", str(file)])
    assert (done.exit_code, "has no token" in done.stderr, "two words" in done.output) == (2, True, False)
