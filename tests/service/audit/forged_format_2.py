"""Forged files with the events that only format 2 has, as in `forged_files`."""

from typing import Final, TypeAlias

from tests.service.audit.match_files import File

Found: TypeAlias = tuple[int, str]
"""The version and the check by which a forgery must be found."""


def all_of_it_in_format_1(file: File) -> Found:
    """What a match of format 2 has that format 1 does not have is not found there."""
    file.first["format"] = "moonstone-match/1"
    for name in ("format", "rated", "open_ms", "bot_fallback"):
        del file.data("match_created")[name]
    return min(
        version
        for version, event in enumerate(file.events[1:], 1)
        if event["type"] in {"seat_freed", "seat_handed_over"}
    ), "actions"


def an_abort_left_out(file: File) -> Found:
    """All people have asked for the end, and the match goes on."""
    at = file.find("match_aborted")
    file.insert(at, "seat_freed", {"seat": 0}, by="player:host")
    return at, "actions"


def an_abort_later_than_all_agreed(file: File) -> Found:
    at = file.find("match_aborted")
    for event in file.events[at:]:
        event["at"] += 1
    return at, "actions"


def an_abort_that_one_did_not_ask_for(file: File) -> Found:
    at = file.find("match_aborted") - 1
    del file.events[at]
    return at, "actions"


def an_abort_whose_request_was_taken_back(file: File) -> Found:
    """The first request ended with the action of its seat, so that the second one was needed."""
    at = file.find("abort_asked", 1)
    file.insert(at, "abort_asked", file.data("abort_asked", 1), by=file.events[at]["by"])
    return at + 1, "actions"


def a_seat_taken_back_twice(file: File) -> Found:
    return file.repeat("seat_handed_over", reason="returned"), "actions"


def a_seat_taken_back_by_a_stranger(file: File) -> Found:
    at = file.find("seat_handed_over", reason="returned")
    file.events[at]["by"] = "player:mallory"
    file.events[at]["data"]["player"] = "mallory"
    return at, "actions"


def a_seat_taken_back_from_its_person(file: File) -> Found:
    at = file.find("seat_handed_over", reason="absent")
    file.events[at] = {**file.events[file.find("seat_handed_over", reason="returned")], "at": file.events[at]["at"]}
    return at, "actions"


def an_absent_seat_replaced_by_itself(file: File) -> Found:
    at = file.find("seat_handed_over", reason="absent")
    file.events[at]["by"] = f"seat:{file.events[at]['data']['seat']}"
    return at, "actions"


def an_absent_seat_replaced_by_the_service(file: File) -> Found:
    at = file.find("seat_handed_over", reason="absent")
    file.events[at]["by"] = "worker"
    return at, "actions"


def an_abort_left_out_after_the_last_one_left(file: File) -> Found:
    at = file.find("match_aborted")
    file.insert(at, "clock_extended", {"ms": 1, "reason": "outage"})
    return at, "actions"


def an_abort_that_the_one_who_stays_did_not_ask_for(file: File) -> Found:
    del file.events[file.find("abort_asked", 1)]
    return file.find("match_aborted"), "actions"


def a_freed_seat_that_was_free(file: File) -> Found:
    return file.repeat("seat_freed"), "actions"


def a_rated_match_that_its_people_agree_to_abort(file: File) -> Found:
    at = file.find("seat_handed_over")
    seat = 1 - file.events[at]["data"]["seat"]
    file.insert(at, "abort_asked", {"seat": seat}, by=f"seat:{seat}")
    return at, "actions"


def a_seat_of_a_rated_match_that_is_taken_back(file: File) -> Found:
    lost = file.find("seat_handed_over")
    seat = file.events[lost]["data"]["seat"]
    player = file.data("seat_taken", seat=seat)["player"]
    at = next(
        version
        for version, event in enumerate(file.events)
        if version > lost and event.get("by", "").startswith("bot:")
    )
    file.insert(at + 1, "seat_handed_over", {"seat": seat, "player": player, "kind": "human", "reason": "returned"})
    file.events[at + 1]["by"] = f"player:{player}"
    return at + 1, "actions"


def a_bot_in_a_rated_match(file: File) -> Found:
    at = file.find("seat_taken")
    file.events[at].update(by="player:host", data={"seat": 0, "player": "random", "kind": "bot"})
    return at, "actions"


def the_other_format(file: File) -> Found:
    """The first line names the other format than the first event."""
    other = {"moonstone-match/1": "moonstone-match/2", "moonstone-match/2": "moonstone-match/1"}
    file.first["format"] = other[file.first["format"]]
    return 1, "effects"


OF_AGREED: Final = (
    all_of_it_in_format_1, an_abort_left_out, an_abort_later_than_all_agreed, an_abort_that_one_did_not_ask_for, an_abort_whose_request_was_taken_back,
    a_seat_taken_back_twice, a_seat_taken_back_by_a_stranger, a_seat_taken_back_from_its_person,
    an_absent_seat_replaced_by_itself, an_absent_seat_replaced_by_the_service,
)  # fmt: skip
OF_LEFT: Final = (an_abort_left_out_after_the_last_one_left, an_abort_that_the_one_who_stays_did_not_ask_for)
OF_RATED: Final = (
    a_rated_match_that_its_people_agree_to_abort, a_seat_of_a_rated_match_that_is_taken_back, a_bot_in_a_rated_match,
)  # fmt: skip
OF_FORMAT_2: Final = frozenset({*OF_AGREED, *OF_LEFT, *OF_RATED, a_freed_seat_that_was_free})
"""Forgeries that need events that only format 2 has."""
