"""Forged events: one value changed, and the hash chain rebuilt, as a cheating server could do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from tests.service.audit.match_files import (
    File,
    Lines,
    aborted,
    agreed,
    banks,
    expired,
    monkeys,
    played,
    rated,
    rated_toy,
    resigning,
    toy,
)

Change = Callable[[dict[str, Any]], object]


@dataclass(frozen=True, slots=True, eq=False)
class Forgery:
    """Applies `change` to the `nth` event of type `kind` whose data has the values `having`; `check` must report it there."""

    name: str
    kind: str
    change: Change
    check: str
    nth: int = 0
    having: dict[str, object] = field(default_factory=dict)
    lines: Callable[[], Lines] = toy

    def __call__(self, file: File) -> tuple[int, str]:
        """Forges the file, and returns the version and the check that must report it."""
        at = file.find(self.kind, self.nth, **self.having)
        self.change(file.events[at])
        return at, self.check


def set_value(*path: str | int, value: object) -> Change:
    """Sets one value inside the event."""

    def change(event: dict[str, Any]) -> None:
        inner: Any = event
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value

    return change


def set_data(**values: object) -> Change:
    return lambda event: event["data"].update(values)


def remove_field(name: str) -> Change:
    return lambda event: event["data"].pop(name)


def set_author(author: str) -> Change:
    return set_value("by", value=author)


def retype(kind: str, author: str, **values: object) -> Change:
    """Changes the type and the author of an event."""

    def change(event: dict[str, Any]) -> None:
        event.update(type=kind, by=author)
        event["data"].update(values)

    return change


EXTRA_FIELD: Final = set_data(mood="good")
ANNA: Final[dict[str, object]] = {"player": "anna"}
BEN: Final[dict[str, object]] = {"player": "ben"}
CLOCK: Final[dict[str, object]] = {"reason": "clock"}
LEFT: Final[dict[str, object]] = {"reason": "player-left"}


def _other_card(event: dict[str, Any]) -> None:
    dealt = next(effect for effect in event["data"]["effects"] if effect["type"] == "cards_drawn")
    dealt["cards"][0] = "13-1"


def _swap_two_draws(event: dict[str, Any]) -> None:
    event["data"]["draws"].reverse()


def _other_outcome(event: dict[str, Any]) -> None:
    deck = event["data"]["draws"][0]["outcome"]
    deck[0], deck[1] = deck[1], deck[0]


EFFECTS: Final = (
    Forgery("a card changed", "match_started", _other_card, "effects"),
    Forgery("points for another seat", "timer", set_value("data", "effects", 2, "seat", value=2), "effects"),
    Forgery("an effect left out", "timer", lambda event: event["data"]["effects"].pop(0), "effects", 1),
    Forgery("no effects", "action", set_data(effects=[]), "effects"),
    Forgery("an unknown effect", "action", set_data(effects=[{"type": "wonder"}]), "effects"),
    Forgery("effects left out", "action", lambda event: event["data"]["effects"].pop(), "effects", 5, lines=monkeys),
)
DRAWS: Final = (
    Forgery("two draws swapped", "match_started", _swap_two_draws, "draws"),
    Forgery("another outcome", "match_started", _other_outcome, "draws"),
    Forgery("a draw left out", "timer", remove_field("draws"), "draws", 1),
    Forgery("a draw made up", "action", set_data(draws=[{"label": "deck", "outcome": 1}]), "draws"),
    Forgery("another tie-break", "match_scored", _other_outcome, "draws"),
    Forgery("another seed", "seed_revealed", set_data(server_seed="00" * 32), "draws"),
    Forgery(
        "a seed in capitals",
        "seed_revealed",
        lambda e: set_data(server_seed=e["data"]["server_seed"].upper())(e),
        "draws",
    ),
    Forgery("a seed too short", "seed_revealed", set_data(server_seed="00"), "draws"),
    Forgery("a seed that is a number", "seed_revealed", set_data(server_seed=5), "draws"),
)
OUTCOMES: Final = (
    Forgery("another winner", "match_scored", set_value("data", "outcome", "winners", value=[2]), "outcome"),
    Forgery("another score", "match_scored", set_value("data", "outcome", "breakdown", 1, "luck", value=2), "outcome"),
    Forgery("no outcome", "match_scored", remove_field("outcome"), "outcome"),
)


def delay(ms: int) -> Change:
    return lambda event: event.update(at=event["at"] + ms)


ACTIONS: Final = (
    Forgery("another card", "action", set_value("data", "action", "card", value="1-1"), "actions"),
    Forgery("an illegal action", "action", set_data(action={"type": "pass"}), "actions", lines=monkeys),
    Forgery("an unknown action", "action", set_value("data", "action", "type", value="fly"), "actions"),
    Forgery("by another seat", "action", set_author("seat:2"), "actions", having={"seat": 1}),
    Forgery("a bot's by a person", "action", set_author("seat:0"), "actions", having={"seat": 0}),
    Forgery("a person's by a bot", "action", set_author("bot:high"), "actions", having={"seat": 1}),
    Forgery("of a seat that does not exist", "action", set_data(seat=3), "actions"),
    Forgery("of a seat below zero", "action", set_data(seat=-1), "actions"),
    Forgery("of a seat below zero by itself", "action", retype("action", "seat:-1", seat=-1), "actions"),
    Forgery("of no seat", "action", remove_field("seat"), "actions"),
    Forgery("of a player who left", "default_action", retype("action", "seat:2"), "actions", having=LEFT),
    Forgery("with a reason", "action", set_data(reason="clock"), "actions"),
    Forgery("an unknown label", "timer", set_data(label="dinner"), "actions"),
    Forgery("a timer by a player", "timer", set_author("seat:0"), "actions"),
)
DEFAULTS: Final = (
    Forgery("an action as a default", "action", retype("default_action", "worker", reason="clock"), "actions", 2),
    Forgery(
        "not the default", "default_action", set_data(action={"type": "pass"}), "actions", having=CLOCK, lines=monkeys
    ),
    Forgery(
        "a person as a failed bot",
        "default_action",
        set_data(reason="bot-failed"),
        "actions",
        having=CLOCK,
        lines=monkeys,
    ),
    Forgery(
        "a player who stayed, as one who left",
        "default_action",
        set_data(reason="player-left"),
        "actions",
        having=CLOCK,
        lines=monkeys,
    ),
    Forgery("for no reason", "default_action", remove_field("reason"), "actions", lines=monkeys),
    Forgery("for a new reason", "default_action", set_data(reason="boredom"), "actions", lines=monkeys),
    Forgery("by its player", "default_action", set_author("seat:1"), "actions", lines=monkeys),
)
TIMES: Final = (
    Forgery("an action before its decision opened", "action", delay(-1), "actions"),
    Forgery("a timer too early", "timer", delay(-101), "actions"),
    Forgery("a turn cut short", "default_action", delay(-101), "actions", 0, CLOCK, monkeys),
    Forgery("a turn without its grace period", "default_action", delay(-1), "actions", 0, CLOCK, monkeys),
    Forgery("a timer without its grace period", "timer", delay(-1), "actions"),
    Forgery("a seat handed over too early", "seat_handed_over", delay(-1), "actions", lines=banks),
    Forgery("resigned by the clock too early", "resigned", delay(-1), "actions", lines=resigning),
    Forgery("a bot faster than its pace", "action", delay(-1), "actions", having={"seat": 0}, lines=banks),
    Forgery("a start later than the last seat", "match_started", delay(1), "actions"),
    Forgery("a seed revealed later than the end", "seed_revealed", delay(1), "actions"),
    Forgery("more given back than was lost", "clock_extended", set_data(ms=3_001), "actions"),
    Forgery("nothing given back", "clock_extended", set_data(ms=0), "actions"),
    Forgery("time taken away", "clock_extended", set_data(ms=-5), "actions"),
    Forgery("a time before that of the previous event", "timer", set_value("at", value=5), "chain"),
    Forgery("a time too large for JSON", "seed_revealed", set_value("at", value=2**53), "chain"),
    Forgery("more given back than an integer of JSON can be", "clock_extended", set_data(ms=2**53), "chain"),
)
UNKNOWN_BOT: Final = Forgery("by an unknown bot", "seat_taken", set_data(player="deep"), "actions")
SEATS: Final = (
    Forgery("created by the service", "match_created", set_author("worker"), "actions"),
    Forgery("taken by another", "seat_taken", set_author("player:ben"), "actions", having=ANNA),
    Forgery("a bot by another", "seat_taken", set_author("player:anna"), "actions"),
    Forgery("taken twice", "seat_taken", set_data(seat=1), "actions", having=BEN),
    Forgery("a seat that does not exist", "seat_taken", set_data(seat=3), "actions", having=BEN),
    UNKNOWN_BOT,
    Forgery("by a bot with a client seed", "seat_taken", set_data(client_seed="its"), "actions"),
    Forgery("by a person as a bot", "seat_taken", set_data(kind="bot"), "actions", having=ANNA),
    Forgery("a client seed of two lines", "seat_taken", set_data(client_seed="a\nb"), "actions", having=ANNA),
    Forgery("a client seed that ends a line", "seat_taken", set_data(client_seed="a\n"), "actions", having=ANNA),
    Forgery("an empty client seed", "seat_taken", set_data(client_seed=""), "actions", having=ANNA),
    Forgery("a long client seed", "seat_taken", set_data(client_seed="x" * 65), "actions", having=ANNA),
    Forgery("of no kind", "seat_taken", remove_field("kind"), "actions", having=ANNA),
    Forgery("an empty seat left", "seat_left", set_data(seat=2), "actions", lines=aborted),
    Forgery("left by another", "seat_left", set_author("seat:1"), "actions", lines=aborted),
    Forgery("handed over to a person", "seat_handed_over", set_data(kind="human"), "actions", lines=banks),
    Forgery("handed over to another bot", "seat_handed_over", set_data(player="random"), "actions", lines=banks),
    Forgery("another seat handed over", "seat_handed_over", set_data(seat=2), "actions", lines=banks),
    Forgery("a bot's seat handed over", "seat_handed_over", set_data(seat=0), "actions", lines=banks),
    Forgery("another seat resigned by the clock", "resigned", set_data(seat=1), "actions", lines=resigning),
    Forgery("a bot that resigned", "resigned", retype("resigned", "seat:0", seat=0), "actions"),
    Forgery("a bot that resigned by its name", "resigned", retype("resigned", "bot:high", seat=0), "actions"),
    Forgery("a bot that the service resigned", "resigned", retype("resigned", "worker", seat=0), "actions"),
)
FORMS: Final = (
    Forgery("an extra field in an action", "action", EXTRA_FIELD, "actions"),
    Forgery("a list for the start", "match_started", set_value("data", value=[1]), "chain"),
    Forgery("an extra field in the start", "match_started", EXTRA_FIELD, "actions"),
    Forgery("an extra field in a score", "match_scored", EXTRA_FIELD, "actions"),
    Forgery("an extra field in a suspension", "match_suspended", EXTRA_FIELD, "actions"),
    Forgery("an extra field in the creation", "match_created", EXTRA_FIELD, "effects"),
    Forgery("an extra field in the envelope", "seat_taken", lambda event: event.update(mood="good"), "chain"),
    Forgery("an unknown option", "match_created", set_value("data", "options", "cheat", value=True), "effects"),
    Forgery("an option left out", "match_created", lambda event: event["data"]["options"].pop("ties"), "effects"),
    Forgery("another game", "match_created", set_data(game="monkeys_on_the_moon"), "effects"),
    Forgery("another ruleset", "match_created", set_data(ruleset=0), "effects"),
    Forgery("an unknown event", "match_suspended", set_value("type", value="match_enchanted"), "effects"),
    Forgery("aborted for another reason", "match_aborted", set_data(reason="operator"), "actions", lines=aborted),
    Forgery("suspended for no error", "match_suspended", set_data(reason="the sun shone"), "actions"),
    Forgery("given back for no outage", "clock_extended", set_data(reason="kindness"), "actions"),
    Forgery("a clock of both kinds", "match_created", set_value("data", "clock", "bank_seconds", value=60), "effects"),
    Forgery(
        "a clock that is too slow", "match_created", set_value("data", "clock", "turn_seconds", value=2**31), "effects"
    ),
    Forgery(
        "a clock for seats where the game keeps its own time",
        "match_created",
        set_value("data", "clock", "turn_seconds", value=60),
        "effects",
        lines=partial(played, "four_monkeys"),
    ),
    Forgery(
        "a pace that is too slow", "match_created", set_value("data", "clock", "bot_pace_ms", value=60_001), "effects"
    ),
    Forgery("created by a player without a name", "match_created", set_author("player:"), "actions"),
    Forgery("an invalid salt", "seat_taken", set_value("salt", value="salt"), "chain"),
)
FORMAT_2: Final = (
    Forgery("of no format", "match_created", remove_field("format"), "effects"),
    Forgery("of format 1", "match_created", set_data(format=1), "effects"),
    Forgery("rated with a bot", "match_created", set_data(rated=True), "effects"),
    Forgery("rated for no reason", "match_created", set_data(rated=None), "effects"),
    Forgery("rated and private", "match_created", set_data(private=True), "effects", lines=rated),
    Forgery("rated without a clock", "match_created", set_data(clock=None), "effects", lines=rated),
    Forgery("rated with a pace alone", "match_created", set_data(clock={"bot_pace_ms": 0}), "effects", lines=rated),
    Forgery(
        "rated with other options",
        "match_created",
        set_value("data", "options", "hand", value=2),
        "effects",
        lines=rated_toy,
    ),
    Forgery("open for no time", "match_created", set_data(open_ms=0), "effects"),
    Forgery("open for ever", "match_created", set_data(open_ms=10**12), "effects"),
    Forgery("another fallback", "match_created", set_data(bot_fallback="give_up"), "effects"),
    Forgery("by a hosted bot", "seat_taken", set_data(kind="hosted"), "actions", having=ANNA),
    Forgery("a client seed that cannot be seen", "seat_taken", set_data(client_seed="a\u200d"), "actions", having=ANNA),
    Forgery("a blank client seed", "seat_taken", set_data(client_seed="\u2800"), "actions", having=ANNA),
    Forgery("a dot out of context", "seat_taken", set_data(client_seed="a\u00b7b"), "actions", having=ANNA),
    Forgery("a letter of old Hangul", "seat_taken", set_data(client_seed="\u1100"), "actions", having=ANNA),
    Forgery("digits of two kinds", "seat_taken", set_data(client_seed="\u0661\u06f1"), "actions", having=ANNA),
    Forgery("handed over for no reason", "seat_handed_over", remove_field("reason"), "actions", lines=banks),
    Forgery("handed over for an absence", "seat_handed_over", set_data(reason="absent"), "actions", lines=banks),
    Forgery("handed over for a failure", "seat_handed_over", set_data(reason="bot-failed"), "actions", lines=banks),
    Forgery("a late bot", "default_action", set_data(reason="bot-late"), "actions", having=CLOCK, lines=monkeys),
    Forgery("freed by another", "seat_freed", set_author("player:anna"), "actions", lines=expired),
    Forgery("freed by the service", "seat_freed", set_author("worker"), "actions", lines=expired),
    Forgery("another seat freed", "seat_freed", set_data(seat=2), "actions", lines=expired),
    Forgery("no such seat freed", "seat_freed", set_data(seat=3), "actions", lines=expired),
    Forgery("expired too early", "match_aborted", delay(-1), "actions", lines=expired),
    Forgery("expired by its creator", "match_aborted", set_author("player:host"), "actions", lines=expired),
    Forgery("agreed by nobody", "match_aborted", set_data(reason="agreed"), "actions", lines=expired),
    Forgery(
        "left by the creator in mid-match", "match_aborted", set_data(reason="creator-left"), "actions", lines=agreed
    ),
    Forgery("expired in mid-match", "match_aborted", set_data(reason="expired"), "actions", lines=agreed),
    Forgery("asked by another", "abort_asked", set_author("seat:0"), "actions", lines=agreed),
    Forgery("asked for a bot", "abort_asked", retype("abort_asked", "seat:0", seat=0), "actions", lines=agreed),
    Forgery("an absence of less than 14 days", "seat_handed_over", delay(-1), "actions", lines=agreed),
    Forgery("an absent seat to another bot", "seat_handed_over", set_data(player="random"), "actions", lines=agreed),
    Forgery("taken back as a bot", "seat_handed_over", set_data(kind="bot"), "actions", 1, lines=agreed),
)
ALL: Final = EFFECTS + DRAWS + OUTCOMES + ACTIONS + DEFAULTS + TIMES + SEATS + FORMS + FORMAT_2
