"""A player that uses only the client which openapi-python-client generates from openapi.yaml.

It is checked by mypy together with that client, and played by test_python_client.
"""

from collections.abc import Callable
from typing import Any

from moonstone_client import AuthenticatedClient, Client
from moonstone_client.api.actions import act, list_legal_actions
from moonstone_client.api.audit import audit_match
from moonstone_client.api.events import list_events
from moonstone_client.api.matches import create_match, show_match, take_seat
from moonstone_client.api.mine import list_own_matches
from moonstone_client.api.players import sign_up
from moonstone_client.models import (
    Act,
    Audit,
    EventPage,
    LegalActions,
    MatchView,
    NewMatch,
    NewPlayer,
    OwnMatchList,
    Problem,
    Receipt,
    SignedUp,
    TakeSeat,
)
from moonstone_client.types import Unset


class Refused(Exception):
    """The service returned a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.code}: {problem.detail}")
        self.code = problem.code


def join(anonymous: Client, **httpx_args: Any) -> AuthenticatedClient:
    """A new player's client."""
    made = sign_up.sync(client=anonymous, body=NewPlayer(name="A stranger"))
    if not isinstance(made, SignedUp):
        raise TypeError(made)
    return AuthenticatedClient(
        base_url="http://moonstone", token=made.token, raise_on_unexpected_status=True, httpx_args=httpx_args
    )


def play(
    client: AuthenticatedClient, game: str, seats: int, choose: Callable[[int], int], wait: Callable[[str], None]
) -> int:
    """Play one match against bots to its end; return the number of actions.

    `choose` returns an index into a list of the given length; `wait` is called with the match id while others are to act.
    """
    made = create_match.sync(client=client, body=NewMatch(game=game, seats=seats, bots=["random"] * (seats - 1)))
    seated = take_seat.sync(match_id=_view(made).id, client=client, body=TakeSeat(client_seed="a stranger's"))
    match, played = _view(seated).id, 0
    while look(client, match).status == "running":
        listed = list_legal_actions.sync(match_id=match, client=client)
        if not isinstance(listed, LegalActions):
            raise TypeError(listed)
        if not listed.actions:
            wait(match)
            continue
        action = listed.actions[choose(len(listed.actions))].to_dict()
        body = Act.from_dict({"action": {name: _chosen(value, choose) for name, value in action.items()}})
        receipt = act.sync(match_id=match, client=client, body=body, idempotency_key=f"{match}-{played}")
        if isinstance(receipt, Problem):
            if receipt.code not in {"decision-closed", "not-your-turn", "too-early", "too-late", "illegal-action"}:
                raise Refused(receipt)
            wait(match)
            continue
        if not isinstance(receipt, Receipt):
            raise TypeError(receipt)
        played += 1
    return played


def read_finished(client: AuthenticatedClient, match: str) -> tuple[int, list[str]]:
    """Read all events of a finished match page by page; return their number, and the names of the checks of its audit."""
    seen, after = 0, 0
    while True:
        page = list_events.sync(match_id=match, client=client, after=after, limit=50, include="texts")
        if not isinstance(page, EventPage):
            raise TypeError(page)
        for event in page.events:
            if isinstance(event.text, Unset) or event.version != seen + 1:
                raise ValueError(event)
            seen = event.version
        if page.next_ is None:
            break
        after = seen
    audit = audit_match.sync(match_id=match, client=client)
    if not isinstance(audit, Audit):
        raise TypeError(audit)
    return seen, [check.check.value for check in audit.checks]


def look(client: AuthenticatedClient, match: str) -> MatchView:
    """A match as the player sees it."""
    return _view(show_match.sync(match_id=match, client=client))


def matches(client: AuthenticatedClient) -> list[str]:
    """The player's matches, newest first."""
    listed = list_own_matches.sync(client=client)
    if not isinstance(listed, OwnMatchList):
        raise TypeError(listed)
    return [match.id for match in listed.matches]


def _view(answer: object) -> MatchView:
    if isinstance(answer, Problem):
        raise Refused(answer)
    if not isinstance(answer, MatchView):
        raise TypeError(answer)
    return answer


def _chosen(value: Any, choose: Callable[[int], int]) -> Any:
    """A field of an action; if it is a pattern, one of the possible choices."""
    if not (isinstance(value, dict) and "any_of" in value):
        return value
    size = value["min"] + choose(value["max"] - value["min"] + 1)
    first = choose(len(value["any_of"]))
    return [value["any_of"][(first + offset) % len(value["any_of"])] for offset in range(size)]
