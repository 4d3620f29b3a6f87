"""Forged events of hosted bots: who they are, who seats them, and what follows when they fail."""

from collections.abc import Callable, Mapping
from typing import Final

from tests.service.audit.forged_events import (
    Forgery,
    delay,
    remove_field,
    retype,
    set_author,
    set_data,
)
from tests.service.audit.forged_format_2 import Found
from tests.service.audit.hosted_files import hosted, hosted_lost, hosted_rated, hosted_resigned
from tests.service.audit.match_files import File, Lines

EINS: Final[dict[str, object]] = {"player": "bt_eins"}
ANNA: Final[dict[str, object]] = {"player": "anna"}
ZWEI: Final[dict[str, object]] = {"player": "bt_zwei"}
LATE: Final[dict[str, object]] = {"reason": "bot-late"}
FAILED: Final[dict[str, object]] = {"reason": "bot-failed"}

ALL: Final = (
    Forgery("without an owner", "seat_taken", remove_field("owner"), "actions", having=EINS, lines=hosted),
    Forgery("without an id", "seat_taken", set_data(player=""), "actions", having=EINS, lines=hosted),
    Forgery("a person without an id", "seat_taken", set_data(player=""), "actions", having=ANNA, lines=hosted),
    Forgery("owned by nobody", "seat_taken", set_data(owner=""), "actions", having=EINS, lines=hosted),
    Forgery("without a limit", "seat_taken", remove_field("limit_ms"), "actions", having=EINS, lines=hosted),
    Forgery("a limit that is too long", "seat_taken", set_data(limit_ms=10_001), "actions", having=EINS, lines=hosted),
    Forgery("a limit that is too short", "seat_taken", set_data(limit_ms=999), "actions", having=EINS, lines=hosted),
    Forgery("a hosted bot of no kind", "seat_taken", set_data(kind="human"), "actions", having=EINS, lines=hosted),
    Forgery(
        "a hosted bot as one of the game", "seat_taken", set_data(kind="bot"), "actions", having=EINS, lines=hosted
    ),
    Forgery(
        "a person with an owner",
        "seat_taken",
        set_data(owner="ella"),
        "actions",
        having={"player": "anna"},
        lines=hosted,
    ),
    Forgery("seated by a guest", "seat_taken", set_author("player:anna"), "actions", having=EINS, lines=hosted),
    Forgery(
        "seated with a client seed", "seat_taken", set_data(client_seed="its"), "actions", having=EINS, lines=hosted
    ),
    Forgery("seated twice", "seat_taken", set_data(player="bt_eins"), "actions", having=ZWEI, lines=hosted),
    Forgery(
        "seated by the creator of a rated match",
        "seat_taken",
        set_author("player:host"),
        "actions",
        having={"player": "bt_bot"},
        lines=hosted_rated,
    ),
    Forgery("late before its limit", "default_action", delay(-1), "actions", having=LATE, lines=hosted),
    Forgery("late by the clock", "default_action", set_data(reason="clock"), "actions", having=LATE, lines=hosted),
    Forgery(
        "failed after its limit", "default_action", set_data(reason="bot-failed"), "actions", having=LATE, lines=hosted
    ),
    Forgery(
        "late, and not failed", "default_action", set_data(reason="bot-late"), "actions", having=FAILED, lines=hosted
    ),
    Forgery("acted by the service", "action", set_author("bot:bt_eins"), "actions", having={"seat": 0}, lines=hosted),
    Forgery("resigned for it", "resigned", set_author("worker"), "actions", lines=hosted),
    Forgery("asked to abort", "resigned", retype("abort_asked", "seat:2"), "actions", lines=hosted),
    Forgery("given to another bot", "seat_handed_over", set_data(player="random"), "actions", lines=hosted_lost),
    Forgery("lost by the clock", "seat_handed_over", set_data(reason="clock"), "actions", lines=hosted_lost),
    Forgery("lost by an absence", "seat_handed_over", set_data(reason="absent"), "actions", lines=hosted_lost),
    Forgery("lost by its own wish", "seat_handed_over", set_author("seat:0"), "actions", lines=hosted_lost),
    Forgery("a person that failed", "seat_handed_over", set_data(seat=1), "actions", lines=hosted_lost),
    Forgery("left and not lost", "seat_handed_over", retype("resigned", "worker"), "actions", lines=hosted_lost),
    Forgery(
        "lost and not resigned",
        "resigned",
        retype("seat_handed_over", "worker", player="greedy", reason="bot-failed"),
        "actions",
        lines=hosted_resigned,
    ),
    Forgery("resigned by another", "resigned", set_author("seat:1"), "actions", lines=hosted_resigned),
)


def another_fallback(file: File) -> Found:
    file.data("match_created")["bot_fallback"] = "resign"
    return file.find("seat_handed_over"), "actions"


def a_longer_limit(file: File) -> Found:
    """Found where a bot is too late: by this limit it was not."""
    for bot in ("bt_eins", "bt_zwei"):
        file.data("seat_taken", player=bot)["limit_ms"] += 1
    return file.find("default_action", reason="bot-late"), "actions"


def a_shorter_limit(file: File) -> Found:
    """Found where a bot acts after this limit."""
    for bot in ("bt_eins", "bt_zwei"):
        file.data("seat_taken", player=bot)["limit_ms"] = 1_000
    first = file.find("action", seat=2)
    for event in file.events[first:]:
        event["at"] += 100
    return first, "actions"


FILES: Final[Mapping[Callable[[File], Found], Callable[[], Lines]]] = {
    another_fallback: hosted_lost,
    a_longer_limit: hosted,
    a_shorter_limit: hosted,
}
