"""With a hidden timer, no byte that a viewer gets during a match of 4 Monkeys reveals the deadline."""

from collections.abc import Iterator
from typing import Any, Final

import pytest

from events.feed import Feed
from events.memory_log import MemoryLog
from service.adapters.memory import local_ports
from service.automation.bot_turns import advance
from service.automation.deadlines import enforce
from service.games.four_monkeys.effects import CheckOpened
from service.games.protocol import CLOCK, Move, Ring
from service.games.registry import GAMES
from service.match.model import Match
from service.match.new_match import NewMatch
from service.usecases import accounts, match_lifecycle
from tests.api.checked import Client
from tests.api.conftest import Container
from tests.api.two_seats import unlimited
from tests.service.games.rng import ScriptedRng

START: Final = 1_700_000_000_000
ROUND: Final = 30_000
FORMS: Final = ("application/json", "application/x-ndjson", "text/event-stream")


class RecordingTable:
    """A match of two people, and every byte that the service sends to them and to a spectator."""

    def __init__(self, *, visible: bool) -> None:
        self.time = START
        feed = Feed()
        ports = local_ports(GAMES, lambda: self.time, MemoryLog(feed.wake))
        self.container = Container(unlimited(), ports)
        self.container.feed = feed
        self.client = Client(self.container)
        self.ports = ports
        self.received: list[bytes] = []
        self.deadlines: set[int] = set()
        self.steps: set[str] = set()
        self.players = [self.client.sign_up(name) for name in ("Ada", "Ben")]
        options = {"timer_visible": visible, "round_seconds": 30, "countdown_seconds": 0}
        wanted = NewMatch(game="four_monkeys", seats=2, options=options)
        creator = accounts.authenticate(ports, self.players[0]).player.id
        # This seed is needed: with some deals, no tile is left to grab before the bell would open a check.
        self.match = match_lifecycle.create(ports, creator, wanted, "table", seed=bytes(32)).match.id
        self.path = f"/v1/matches/{self.match}"
        for token in self.players:
            self.post("/seats", {}, token)

    def _record(self, response: Any) -> Any:
        self.received.append(response.get_data() + str(response.headers).encode())
        return response

    def get(self, path: str, token: str | None, **headers: str) -> Any:
        return self._record(self.client.get(self.path + path, token, **headers))

    def read_events(self, form: str, token: str | None) -> None:
        """Read all events in this media type."""
        unchecked = Client(self.container, unchecked=True)
        self._record(unchecked.get(f"{self.path}/events", token, accept=form))

    def post(self, path: str, body: Any, token: str) -> Any:
        answer = self._record(self.client.post(self.path + path, body, token))
        self.note_deadlines()
        return answer

    def now(self) -> Match:
        return self.ports.history.newest(self.match)[0]

    def note_deadlines(self) -> None:
        """Remember each open deadline, and the step that it belongs to."""
        for decision in self.now().decisions():
            assert decision.deadline is not None
            self.deadlines.add(decision.deadline)
            self.steps.add(decision.step)

    def read_everything(self) -> None:
        for token in (*self.players, None):
            for path in ("", "?include=legal_actions", "/legal-actions"):
                self.get(path, token)
            if token is not None:
                self._record(self.client.get("/v1/me/matches", token))
        self._record(self.client.get("/v1/matches"))

    def act(self, player: int, action: dict[str, Any]) -> Any:
        return self.post("/actions", {"action": action}, self.players[player])

    def grab(self, player: int) -> Any:
        listed = self.get("/legal-actions", self.players[player]).get_json()["actions"]
        action = next(one for one in listed if one["type"] == "grab")
        return self.act(player, {**action, "cards": action["cards"]["any_of"][:1]})

    def ring(self) -> None:
        self.time = max(due.at for due in self.ports.log.scheduled("clock"))
        enforce(self.ports, self.match)
        self.note_deadlines()

    def bell_would_open_a_check(self) -> bool:
        """Whether the bell of the round would now open a check, in which a seat has to choose."""
        state = self.now().state
        effects = GAMES["four_monkeys"].decide(state, Move(CLOCK, Ring("round"), state.deadline), ScriptedRng())
        return isinstance(effects[-1], CheckOpened)


def play_rounds(table: RecordingTable) -> Iterator[None]:
    """Play round by round to the end of the match, and provoke every kind of answer."""
    while table.now().status == "running":
        table.time += 1_000
        state = table.now().state
        if state.phase == "play":
            assert table.grab(0).status_code == 201
            assert table.act(1, {"type": "grab", "stack": 0, "combo": "K01-1", "cards": []}).status_code == 409
            table.post("/actions?dry_run=true", {"action": {"type": "stop"}}, table.players[1])
            if not state.false_stops[1]:
                assert table.act(1, {"type": "stop"}).status_code == 201  # a false stop: the round begins again
            while not table.bell_would_open_a_check():
                assert table.grab(0).status_code == 201
            table.read_everything()
            table.time = table.now().state.deadline + 50
            assert table.act(0, {"type": "stop"}).get_json()["code"] == "too-late"
            table.read_everything()
        else:
            assert table.act(1, {"type": "check", "combo": "K01-1"}).status_code == 409
            table.post("/actions?dry_run=true", {"action": {"type": "stop"}}, table.players[0])
        table.ring()
        advance(table.ports, table.match)
        table.read_everything()
        yield


@pytest.mark.parametrize("visible", [True, False])
def test_no_answer_and_no_frame_contains_a_deadline_that_the_options_hide(visible: bool) -> None:
    table = RecordingTable(visible=visible)
    for _ in play_rounds(table):
        pass
    for token in (*table.players, None):
        for form in FORMS:
            table.read_events(form, token)
        for version in range(1, len(table.client.log(table.match)) + 1):
            table.get(f"?version={version}", token)
    assert len(table.deadlines) >= 7
    assert table.steps == {"play", "round", "check"}
    revealed = {
        deadline for deadline in table.deadlines if any(str(deadline).encode() in one for one in table.received)
    }
    assert revealed == (table.deadlines if visible else set())
    assert all(
        any(str(deadline).encode() in stored for stored in table.client.log(table.match))
        for deadline in table.deadlines
    ), "the log must have every deadline"
