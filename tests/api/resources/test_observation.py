"""Reading a match at any version, as the viewers that are allowed, without hidden information."""

import re
from typing import NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from events.record import decode
from service.automation.bot_turns import advance
from service.games.registry import GAMES
from service.games.visibility import Viewer
from service.match.fold import begin, step
from service.match.model import Match
from service.match.randomness import Draws
from service.match.redaction import see_decisions, see_event
from tests.api.checked import Client, Json
from tests.api.conftest import problem
from tests.api.table import Table


def path(table: Table, query: str = "") -> str:
    return f"/v1/matches/{table.match_id}{query}"


def builtins(value: object) -> object:
    return msgspec.json.decode(msgspec.json.encode(value))


def folds(client: Client, table: Table) -> list[Match]:
    """The match at every version, folded from its bytes."""
    first, *rest = client.log(table.match_id)
    found = [begin(table.match_id, first, GAMES)]
    for stored in rest:
        found.append(step(found[-1], stored))
    return found


def test_every_version_shows_the_fold_of_its_events_as_the_viewer_may_see_it(client: Client, finished: Table) -> None:
    for match in folds(client, finished)[::9]:
        version = match.head.version
        for viewer, query in ((1, ""), (0, "&viewer=0")):
            response = client.get(path(finished, f"?version={version}{query}"), finished.ben_token)
            view = response.get_json()
            assert (view["version"], view["head"], view["viewer"]) == (version, match.head.hash, viewer)
            assert response.headers["ETag"] == f'"{version}-{match.head.hash[:16]}"'
            seen = None if match.state is None else match.game.observation(match.state, viewer)
            assert view["observation"] == builtins(seen)
            assert view["decisions"] == builtins(see_decisions(match, viewer))
            assert view["status"] == match.status


def test_the_end_shows_the_outcome_and_the_seed(client: Client, finished: Table) -> None:
    view = client.ask(path(finished))
    assert view["status"] == "finished"
    assert view["outcome"]["winners"]
    assert len(view["server_seed"]) == 64


@pytest.mark.parametrize("version", ["0", "01", "1.0", "-1", "x", "10000000000"])
def test_a_version_is_a_plain_number(client: Client, running: Table, version: str) -> None:
    assert problem(client.get(path(running, f"?version={version}"))).code == "invalid-parameter"


def test_a_future_version_is_not_found(client: Client, running: Table) -> None:
    newest = client.ask(path(running))["version"]
    refusal = problem(client.get(path(running, f"?version={newest + 1}")))
    assert (refusal.status, refusal.code, refusal.document["version"]) == (404, "version-not-found", newest)


def test_the_view_of_another_seat_is_accessible_only_after_the_end(
    client: Client, running: Table, finished: Table
) -> None:
    assert client.ask(path(running), running.ben_token)["viewer"] == 1
    assert client.ask(path(running, "?viewer=1"), running.ben_token)["viewer"] == 1
    assert client.ask(path(running), running.anna_token)["viewer"] is None
    for token, query in (
        (running.ben_token, "viewer=0"),
        (None, "viewer=1"),
        (running.anna_token, "viewer=0&version=4"),
    ):
        for resource in ("", "/legal-actions"):
            assert problem(client.get(path(running, f"{resource}?{query}"), token))[:2] == (403, "not-your-seat")
    assert problem(client.get(path(finished, "?viewer=2"))).code == "invalid-parameter"
    assert [client.ask(path(finished, f"?viewer={seat}"))["viewer"] for seat in (0, 1)] == [0, 1]
    assert client.ask(path(finished, "/legal-actions?viewer=0&version=4"))["version"] == 4


def test_a_caller_with_the_current_etag_gets_304(client: Client, running: Table) -> None:
    for resource in ("", "/legal-actions", "?version=3"):
        tag = client.get(path(running, resource), running.ben_token).headers["ETag"]
        for header in (tag, f"W/{tag}", f'"x", {tag}', "*"):
            same = client.get(path(running, resource), running.ben_token, if_none_match=header)
            assert (same.status_code, same.get_data(), same.headers["ETag"]) == (304, b"", tag)
        assert client.get(path(running, resource), running.ben_token, if_none_match='"x"').status_code == 200
    assert problem(client.get(path(running), if_none_match="x")).code == "invalid-parameter"


def test_legal_actions_can_be_read_with_the_match_or_alone(client: Client) -> None:
    token = client.sign_up()
    match = client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 2, "bots": ["random"]}, token)["id"]
    client.do(f"/v1/matches/{match}/seats", {}, token)
    ports = client.container.ports
    while advance(ports, match):
        pass
    seat = ports.history.newest(match)[0].seat_of(client.ask("/v1/me", token)["id"])
    assert seat == 1
    view = client.ask(f"/v1/matches/{match}?include=legal_actions", token)
    listed = client.ask(f"/v1/matches/{match}/legal-actions", token)
    assert view["legal_actions"] == listed["actions"] != []
    assert listed == {**listed, "version": view["version"], "head": view["head"], "decisions": view["decisions"]}
    assert view["decisions"][0]["on_timeout"] in listed["actions"]
    spectator = client.ask(f"/v1/matches/{match}?include=legal_actions")
    assert spectator["legal_actions"] == []
    assert "on_timeout" not in spectator["decisions"][0]


MASKED = re.compile(rb"urn:uuid:[0-9a-f-]{36}")
WRONG: list[Json] = [
    {"type": "pass"},
    {"type": "select_monkey", "card": "no-such-card"},
    {"type": "bid", "coins": {"red": 9}},
]


class Person(NamedTuple):
    viewer: Viewer
    token: str | None


def answers_for(client: Client, path: str, person: Person) -> list[tuple[int, str | None, bytes]]:
    """Status, ETag and body of every answer that a person can get at a version."""
    legal: list[Json] = client.ask(f"{path}/legal-actions", person.token)["actions"]
    queries = ("", "?include=legal_actions", "/legal-actions", "/events?limit=500", "?viewer=0", "?viewer=1")
    answers = [client.get(f"{path}{query}", person.token) for query in queries]
    if person.token is not None:
        actions = [*WRONG, *legal[:5]]
        answers += [client.post(f"{path}/actions?dry_run=true", {"action": one}, person.token) for one in actions]
    return [(answer.status_code, answer.headers.get("ETag"), MASKED.sub(b"", answer.get_data())) for answer in answers]


def test_hidden_information_changes_no_answer_during_a_whole_match() -> None:
    """At many versions, for each person, the state is replaced by another one that looks the same to that person."""
    client = Client(unchecked=True)
    tokens = [client.sign_up("Ada"), client.sign_up("Ben")]
    match_id = client.do("/v1/matches", {"game": "monkeys_on_the_moon", "seats": 2}, tokens[0])["id"]
    path = f"/v1/matches/{match_id}"
    for token in tokens:
        client.do(f"{path}/seats", {}, token)
    people = [Person(0, tokens[0]), Person(1, tokens[1]), Person(None, None)]
    history = client.container.ports.history
    seed = client.container.ports.log.seed(match_id)
    assert seed is not None
    chance = Draws(lambda: b"a whole match", {})
    swaps = 0
    for turn in range(1000):
        match, _ = history.newest(match_id)
        if not match.decisions():
            break
        for person in people if turn % 8 == 0 else ():
            twin = match.game.sample_state(match.game.observation(match.state, person.viewer), chance)
            swaps += twin != match.state
            before = answers_for(client, path, person)
            history.keep(replace(match, state=twin))
            assert answers_for(client, path, person) == before
            history.keep(match)
        seat = match.decisions()[0].seat
        action = chance.pick("action", client.ask(f"{path}/legal-actions", tokens[seat])["actions"])
        answer = client.post(f"{path}/actions", {"action": action}, tokens[seat])
        event = decode(client.log(match_id)[-1])
        assert answer.get_json()["event"] == builtins(see_event(match, event, answer.get_json()["head"], seat))
        assert seed.hex() not in answer.get_data(as_text=True)
        assert b'"draws"' not in answer.get_data()
    else:
        raise AssertionError("the match has no end")
    assert swaps > 15
