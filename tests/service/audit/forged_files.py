"""Forged files: events removed, inserted, moved, or changed so that a later event is wrong; with a rebuilt hash chain."""

from collections.abc import Callable, Mapping
from typing import Final

from events.record import digest
from tests.service.audit.forged_format_2 import (
    OF_AGREED,
    OF_LEFT,
    OF_RATED,
    Found,
    a_freed_seat_that_was_free,
    the_other_format,
)
from tests.service.audit.match_files import File, Lines, aborted, agreed, banks, expired, left, monkeys, rated, toy


def another_seed_and_commitment(file: File) -> Found:
    file.data("seed_revealed")["server_seed"] = "00" * 32
    file.data("match_created")["seed_commitment"] = digest(bytes(32))
    return file.find("match_started"), "draws"


def another_client_seed(file: File) -> Found:
    file.data("seat_taken", player="anna")["client_seed"] = "mine"
    return file.find("match_started"), "draws"


def a_client_seed_left_out(file: File) -> Found:
    del file.data("seat_taken", player="anna")["client_seed"]
    return file.find("match_started"), "draws"


def another_option(file: File) -> Found:
    file.data("match_created")["options"]["hand"] = 4
    return file.find("match_started"), "effects"


def another_creator(file: File) -> Found:
    file.events[1]["by"] = "player:mallory"
    return 2, "actions"


def one_player_in_two_seats(file: File) -> Found:
    at = file.find("seat_taken", player="ben")
    file.events[at]["by"] = "player:anna"
    file.events[at]["data"]["player"] = "anna"
    return at, "actions"


def the_timer_before_the_last_action(file: File) -> Found:
    at = file.find("timer")
    timer = file.events.pop(at)
    file.events.insert(at - 2, {**timer, "at": file.events[at - 2]["at"]})
    return at - 2, "actions"


def an_action_left_out(file: File) -> Found:
    del file.events[file.find("action")]
    return file.find("timer"), "draws"


def an_action_twice(file: File) -> Found:
    return file.repeat("action"), "actions"


def an_action_too_late(file: File) -> Found:
    at = file.find("timer")
    file.events[at - 2]["at"] = file.events[at - 1]["at"] = file.events[at]["at"]
    return at - 2, "actions"


def an_action_after_the_turn_clock_ran_out(file: File) -> Found:
    at = file.find("action", 3)
    for event in file.events[at:]:
        event["at"] += 60_000
    return at, "actions"


def a_default_action_a_millisecond_before_its_time(file: File) -> Found:
    at = file.find("default_action", reason="clock")
    file.events[at]["at"] = file.events[at - 1]["at"] + 59_999
    return at, "actions"


def time_given_back_that_did_not_pass(file: File) -> Found:
    at = file.find("timer")
    file.insert(at, "clock_extended", {"ms": 5, "reason": "outage"})
    return at, "actions"


def an_outage_left_out(file: File) -> Found:
    at = file.find("clock_extended")
    del file.events[at]
    return file.find("default_action", 1), "effects"


def a_score_before_the_end(file: File) -> Found:
    at = file.find("timer", 1)
    del file.events[at : file.find("match_scored")]
    return at, "outcome"


def no_score(file: File) -> Found:
    at = file.find("match_scored")
    del file.events[at]
    return at, "actions"


def two_scores(file: File) -> Found:
    return file.repeat("match_scored"), "actions"


def an_event_after_the_seed(file: File) -> Found:
    file.insert(len(file.events), "clock_extended", {"ms": 5, "reason": "outage"})
    return len(file.events) - 1, "actions"


def the_seed_twice(file: File) -> Found:
    file.events.append(file.events[-1])
    return len(file.events) - 1, "actions"


def the_seed_too_early(file: File) -> Found:
    at = file.find("timer")
    file.insert(at, "seed_revealed", file.data("seed_revealed"))
    return at + 1, "actions"


def the_last_event_left_out(file: File) -> Found:
    del file.events[-1]
    return len(file.events), "chain"


def the_first_event_left_out(file: File) -> Found:
    del file.events[1]
    return 1, "chain"


def every_event_left_out(file: File) -> Found:
    del file.events[1:]
    return 1, "chain"


def all_events_between_first_and_last_left_out(file: File) -> Found:
    del file.events[2:-1]
    return 2, "actions"


def two_beginnings(file: File) -> Found:
    file.insert(2, "match_created", file.data("match_created"), by="player:host")
    return 2, "actions"


def a_start_with_an_empty_seat(file: File) -> Found:
    at = file.find("seat_taken", player="ben")
    del file.events[at]
    return at, "actions"


def two_starts(file: File) -> Found:
    return file.repeat("match_started"), "actions"


def a_seat_taken_in_mid_match(file: File) -> Found:
    at = file.find("timer")
    file.insert(at, "seat_taken", {"seat": 0, "player": "mallory", "kind": "human"}, by="player:mallory")
    return at, "actions"


def a_player_who_left_twice(file: File) -> Found:
    return file.repeat("resigned"), "actions"


def a_seat_handed_over_by_its_player(file: File) -> Found:
    at = file.find("timer")
    file.insert(at, "seat_handed_over", {"seat": 1, "player": "mallory", "kind": "human"}, by="seat:1")
    return at, "actions"


def a_running_match_resumed(file: File) -> Found:
    at = file.find("match_suspended")
    del file.events[at]
    return at, "actions"


def a_move_while_suspended(file: File) -> Found:
    at = file.find("match_resumed")
    del file.events[at]
    return at, "actions"


def a_first_line_of_another_game(file: File) -> Found:
    file.first["game"] = "monkeys_on_the_moon"
    return 1, "effects"


def a_game_that_is_not_known(file: File) -> Found:
    file.first["game"] = file.data("match_created")["game"] = "chess"
    return 0, "effects"


def a_ruleset_that_is_not_known(file: File) -> Found:
    file.first["ruleset"] = file.data("match_created")["ruleset"] = 2
    return 0, "effects"


def a_ruleset_below_one(file: File) -> Found:
    file.first["ruleset"] = file.data("match_created")["ruleset"] = 0
    return 0, "chain"


def a_player_who_left_after_the_end(file: File) -> Found:
    at = file.find("match_scored")
    file.insert(at, "resigned", {"seat": 1}, by="seat:1")
    return at, "actions"


def a_seat_handed_over_after_the_end(file: File) -> Found:
    at = file.find("match_scored")
    file.insert(at, "seat_handed_over", {"seat": 1, "player": "mallory", "kind": "human"})
    return at, "actions"


def a_full_match_that_did_not_start(file: File) -> Found:
    at = file.find("match_started")
    file.insert(at, "seat_left", {"seat": 1}, by="seat:1")
    return at, "actions"


def an_abort_in_mid_match(file: File) -> Found:
    at = file.find("action")
    file.insert(at, "match_aborted", {"reason": "creator-left"})
    del file.events[at + 1 : -1]
    file.events[-1]["at"] = file.events[at]["at"]
    return at, "actions"


def an_abort_while_suspended(file: File) -> Found:
    at = file.find("match_resumed")
    file.insert(at, "match_aborted", {"reason": "creator-left"})
    del file.events[at + 1 : -1]
    return at, "actions"


def an_abort_by_a_creator_with_a_seat(file: File) -> Found:
    del file.events[file.find("seat_left")]
    taken = file.events[file.find("seat_taken")]
    taken["by"], taken["data"]["player"] = "player:host", "host"
    return file.find("match_aborted"), "actions"


def a_suspension_while_people_think(file: File) -> Found:
    at = file.find("action", 1)
    file.insert(at, "match_suspended", {"reason": "KeyError"})
    file.insert(at + 1, "match_resumed", {})
    return at, "actions"


def a_manual_start_recorded_as_automatic(file: File) -> Found:
    file.data("match_created")["manual_start"] = False
    return file.find("match_started"), "actions"


def a_seat_handed_over_where_the_clock_plays_defaults(file: File) -> Found:
    at = file.find("default_action", reason="clock")
    seat = file.events[at]["data"]["seat"]
    file.events[at].update(type="seat_handed_over", data={"seat": seat, "player": "greedy", "kind": "bot"})
    return at, "actions"


def a_person_defaulted_where_the_clock_hands_seats_over(file: File) -> Found:
    at = file.find("seat_handed_over")
    seat = file.events[at]["data"]["seat"]
    action = file.data("action", seat=seat)
    file.events[at].update(type="default_action", data={**action, "reason": "clock"})
    return at, "actions"


def a_bank_that_was_smaller(file: File) -> Found:
    file.data("match_created")["clock"].update(bank_seconds=5, increment_seconds=0)
    return file.find("action", 1, seat=1), "actions"


def a_bank_that_was_larger(file: File) -> Found:
    file.data("match_created")["clock"]["bank_seconds"] = 21
    return file.find("seat_handed_over"), "actions"


def a_bank_that_grew_faster(file: File) -> Found:
    file.data("match_created")["clock"]["increment_seconds"] = 3
    return file.find("seat_handed_over"), "actions"


def two_deadlines_enforced_in_the_wrong_order(file: File) -> Found:
    """When two deadlines have passed, the later one must not be enforced first."""
    first, second = file.find("default_action", reason="clock"), file.find("default_action", 1, reason="clock")
    file.events[first], file.events[second] = file.events[second], file.events[first]
    return first, "actions"


def a_clock_without_time(file: File) -> Found:
    file.data("match_created")["clock"] = {"turn_seconds": 0}
    return 1, "effects"


def another_format(file: File) -> Found:
    file.first["format"] = "moonstone-match/3"
    return 0, "chain"


def more_in_the_first_line(file: File) -> Found:
    file.first["mood"] = "good"
    return 0, "chain"


_OF_MONKEYS: Final = (
    an_action_after_the_turn_clock_ran_out, a_default_action_a_millisecond_before_its_time,
    a_seat_handed_over_where_the_clock_plays_defaults,
)  # fmt: skip
_OF_BANKS: Final = (
    a_manual_start_recorded_as_automatic, a_person_defaulted_where_the_clock_hands_seats_over,
    a_bank_that_was_smaller, a_bank_that_was_larger, a_bank_that_grew_faster,
)  # fmt: skip
_OF_TOY: Final = (
    another_seed_and_commitment, another_client_seed, a_client_seed_left_out, another_option, another_creator,
    one_player_in_two_seats, the_timer_before_the_last_action, an_action_left_out, an_action_twice, an_action_too_late,
    time_given_back_that_did_not_pass, an_outage_left_out, a_score_before_the_end, no_score, two_scores, an_event_after_the_seed, the_seed_twice,
    the_seed_too_early, the_last_event_left_out, the_first_event_left_out, every_event_left_out, all_events_between_first_and_last_left_out,
    two_beginnings, a_start_with_an_empty_seat, two_starts, a_seat_taken_in_mid_match, a_player_who_left_twice,
    a_seat_handed_over_by_its_player, a_running_match_resumed, a_move_while_suspended, a_first_line_of_another_game,
    a_game_that_is_not_known, a_ruleset_that_is_not_known, a_ruleset_below_one, a_clock_without_time,
    a_player_who_left_after_the_end, a_seat_handed_over_after_the_end, a_full_match_that_did_not_start,
    another_format, the_other_format, more_in_the_first_line, an_abort_in_mid_match, an_abort_while_suspended,
    a_suspension_while_people_think, two_deadlines_enforced_in_the_wrong_order,
)  # fmt: skip
ALL: Final[Mapping[Callable[[File], Found], Callable[[], Lines]]] = {
    **dict.fromkeys(_OF_TOY, toy),
    **dict.fromkeys(_OF_MONKEYS, monkeys),
    **dict.fromkeys(_OF_BANKS, banks),
    **dict.fromkeys(OF_AGREED, agreed),
    **dict.fromkeys(OF_RATED, rated),
    **dict.fromkeys(OF_LEFT, left),
    an_abort_by_a_creator_with_a_seat: aborted,
    a_freed_seat_that_was_free: expired,
}
